package org.apache.spark.sql.streamjoin.errors

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/** The error conditions of the file, as `CLASS.SUBCLASS`. */
object ErrorConditions {

  /** Their texts, with the parameters as `<name>`. */
  val texts: Map[String, String] = {
    val stream =
      getClass.getClassLoader.getResourceAsStream("error/streamjoin-error-conditions.json")
    val tree =
      try new ObjectMapper().readTree(stream)
      finally stream.close()
    val found = for {
      name <- tree.fieldNames.asScala.toSeq
      subClass <- tree.get(name).get("subClass").properties.asScala
      lines = subClass.getValue.get("message").elements.asScala.map(_.asText)
    } yield s"$name.${subClass.getKey}" -> lines.mkString("\n")
    found.toMap
  }

  val all: Seq[String] = texts.keys.toSeq
}
