package org.apache.spark.sql.streamjoin

import java.util.{List => JList, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Column, DataFrame}

import io.streamjoin.PythonApi

/** The operations of the Python package, called as the package calls them. */
object PythonCalls {

  /** @param options `lag`, and further options of `IMPOSE_ORDER` */
  def imposeOrder(df: DataFrame, column: String, options: JMap[String, Any]): DataFrame =
    operation(
      df,
      "impose_order",
      Seq(column, options.get("lag")),
      options.asScala.toSeq.collect { case (name, value) if name != "lag" => name -> s"$value" }
    )

  /** @param sequenceBy null: none */
  def fromChangelog(
      df: DataFrame,
      key: JList[String],
      op: String,
      mapping: JMap[String, String],
      sequenceBy: String
  ): DataFrame = {
    val words = mapping.asScala.map { case (word, kind) => "op_mapping" -> s"$word=$kind" }
    operation(df, "from_changelog", Nil, keys(key) ++ sequence(sequenceBy) ++ words :+ ("op" -> op))
  }

  /** @param deletes null: none */
  def fromUpserts(
      df: DataFrame,
      key: JList[String],
      sequenceBy: String,
      deletes: Column
  ): DataFrame =
    operation(df, "from_upserts", Option(deletes).toSeq, keys(key) ++ sequence(sequenceBy))

  /** @param sequenceBy null: none */
  def fromDebezium(
      df: DataFrame,
      key: JList[String],
      value: String,
      sequenceBy: String
  ): DataFrame =
    operation(df, "from_debezium", Nil, keys(key) ++ sequence(sequenceBy) :+ ("value" -> value))

  def toUpserts(df: DataFrame, key: JList[String]): DataFrame =
    operation(df, "to_upserts", Nil, keys(key))

  private def keys(key: JList[String]) = key.asScala.toSeq.map("key" -> _)

  private def sequence(column: String) = Option(column).toSeq.map("sequence_by" -> _)

  private def operation(
      df: DataFrame,
      name: String,
      arguments: Seq[Any],
      options: Seq[(String, String)]
  ): DataFrame = PythonApi.operation(
    df,
    name,
    arguments.asJava,
    options.map { case (option, value) => JList.of(option, value) }.asJava
  )
}
