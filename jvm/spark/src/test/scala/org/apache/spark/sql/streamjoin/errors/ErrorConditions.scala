package org.apache.spark.sql.streamjoin.errors

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/** The error conditions of the file with their texts, as `CLASS.SUBCLASS`. */
object ErrorConditions {

  val all: Seq[String] = {
    val stream =
      getClass.getClassLoader.getResourceAsStream("error/streamjoin-error-conditions.json")
    val tree =
      try new ObjectMapper().readTree(stream)
      finally stream.close()
    for {
      name <- tree.fieldNames.asScala.toSeq
      subClass <- tree.get(name).get("subClass").fieldNames.asScala
    } yield s"$name.$subClass"
  }
}
