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
import org.apache.spark.sql.streamjoin.logical.plan.SplitKeyUpdates
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * The envelope of a Debezium message: `op`, `before` and `after`.
 *
 * @param payload where in the message it is, as Kafka Connect writes JSON by default, with the schema beside it; none: it
 *   is the message
 */
private[resolve] final class DebeziumEnvelope private (
    message: Attribute,
    payload: Option[Int],
    op: Int,
    before: Int,
    after: Int
) {
  import DebeziumEnvelope._

  val envelope: Expression =
    payload.fold[Expression](message)(GetStructField(message, _, Some(Payload)))

  /** Where `op` stands, as an error names it, in a message that is called so. */
  def opOf(name: String): String = (name +: payload.map(_ => Payload).toSeq :+ "op").mkString(".")

  private def field(place: Int): GetStructField = GetStructField(envelope, place)

  def word: Expression = field(op)

  /** The columns of the rows. */
  def row: StructType = field(after).dataType.asInstanceOf[StructType]

  /** The image that a message is about. */
  def image: Expression = If(EqualTo(word, Literal("d")), field(before), field(after))

  /**
   * The messages, with a delete of the old key before each update that changes the key.
   *
   * @param key the places of the key's columns. An image in which one of them is NULL does not tell the key: logs of many
   *   databases have the old values of some columns only
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

  /** None: the column is no such message. */
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

  /** A struct with another value in one place. */
  private def withField(struct: Expression, place: Int, value: Expression): Expression =
    CreateNamedStruct(struct.dataType.asInstanceOf[StructType].fields.toSeq.zipWithIndex.flatMap {
      case (f, i) =>
        val own = GetStructField(struct, i, Some(f.name))
        Seq(Literal(f.name), if (i == place) cast(value, own.dataType) else own)
    })

  private def cast(value: Expression, to: DataType): Expression =
    if (DataType.equalsIgnoreNullability(value.dataType, to)) value else Cast(value, to)
}
