package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  Cast,
  CreateNamedStruct,
  EqualNullSafe,
  EqualTo,
  Expression,
  GetStructField,
  If,
  IsNotNull,
  Literal,
  Not
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.plan.nodes.SplitKeyUpdates
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * The envelope of a Debezium message: `op`, `before`, and `after`.
 *
 * @param payload the position of the envelope in the message, if the message has a schema beside
 *   it. Kafka Connect writes such JSON by default. None: the message is the envelope
 */
private[resolve] final class DebeziumEnvelope private (
    val message: Attribute,
    payload: Option[Int],
    op: Int,
    before: Int,
    after: Int
) {
  import DebeziumEnvelope._

  val envelope: Expression =
    payload.fold[Expression](message)(GetStructField(message, _, Some(Payload)))

  /** The path of `op` in errors, for a message column with this name. */
  def opOf(name: String): String = (name +: payload.map(_ => Payload).toSeq :+ "op").mkString(".")

  private def field(place: Int): GetStructField = GetStructField(envelope, place)

  def word: Expression = field(op)

  /** The schema of the rows. */
  def row: StructType = field(after).dataType.asInstanceOf[StructType]

  /** The image of a message: the old one of a delete, otherwise the new one. */
  def image: Expression = If(EqualTo(word, Literal("d")), field(before), field(after))

  /**
   * Adds a delete of the old key before each update that changes the key.
   *
   * @param key the positions of the key columns. An old image with NULL in one of them does not
   *   identify the key: many databases log only some columns of the old image
   */
  def splitKeyUpdates(key: Seq[Int], child: LogicalPlan): LogicalPlan = {
    val images = key.map(k => (GetStructField(field(before), k), GetStructField(field(after), k)))
    val isKnown = images.map { case (old, _) => IsNotNull(old): Expression }
    val isSame = images.map { case (old, now) => EqualNullSafe(old, now): Expression }
    val changesKey =
      (EqualTo(word, Literal("u")) +: isKnown :+ Not(isSame.reduce(And(_, _)))).reduce(And(_, _))
    val deleted = withField(envelope, op, Literal("d"))
    SplitKeyUpdates(
      message,
      changesKey,
      payload.fold(deleted)(withField(message, _, deleted)),
      child
    )
  }
}

private[resolve] object DebeziumEnvelope {
  private val Payload = "payload"

  /** The envelope of a column; none: the column has no Debezium messages. */
  def of(message: Attribute): Option[DebeziumEnvelope] = {
    val payload = Some(message.dataType).collect {
      case s: StructType if field(s, "op").isEmpty => field(s, Payload)
    }.flatten
    payload.fold(message.dataType)(_._2) match {
      case s: StructType =>
        (field(s, "op"), field(s, "before"), field(s, "after")) match {
          case (Some((op, _)), Some((before, b: StructType)), Some((after, a: StructType)))
              if DataType.equalsIgnoreNullability(a, b) =>
            Some(new DebeziumEnvelope(message, payload.map(_._1), op, before, after))
          case _ => None
        }
      case _ => None
    }
  }

  private def field(s: StructType, name: String): Option[(Int, DataType)] =
    s.fields.zipWithIndex.collectFirst {
      case (f, i) if f.name.toLowerCase(Locale.ROOT) == name => (i, f.dataType)
    }

  /** A struct with another value in one field. */
  private def withField(struct: Expression, place: Int, value: Expression): Expression =
    CreateNamedStruct(struct.dataType.asInstanceOf[StructType].fields.toSeq.zipWithIndex.flatMap {
      case (f, i) =>
        val own = GetStructField(struct, i, Some(f.name))
        Seq(Literal(f.name), if (i == place) cast(value, own.dataType) else own)
    })

  private def cast(value: Expression, to: DataType): Expression =
    if (DataType.equalsIgnoreNullability(value.dataType, to)) value else Cast(value, to)
}
