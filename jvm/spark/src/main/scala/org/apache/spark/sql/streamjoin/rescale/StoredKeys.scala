package org.apache.spark.sql.streamjoin.rescale

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, Project}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.{DataType, StructType}

import io.streamjoin.model.Side

/**
 * Reads the keys in the description of a join, which are SQL text without qualifiers, such as
 * `id = id: BIGINT`.
 *
 * A text may have several readings: the left input of a join above a join may have two columns
 * `id`. The stored rows decide between them ([[RowPlaces]]), because each is stored under the hash
 * of its key.
 *
 * @param zone the time zone that the keys depend on, if there is one
 */
private[rescale] final class StoredKeys(session: SparkSession, zone: Option[String]) {
  import StoredKeys._

  /** The possible readings of the keys for the rows of a side; none if a key cannot be read. */
  def of(keys: Seq[String], side: Side, rows: StructType): Seq[KeyReading] = {
    val columns = rows.fields.toSeq.zipWithIndex.map { case (field, i) =>
      AttributeReference(s"_$i", field.dataType)()
    }
    val names = rows.fieldNames.toSeq
    val each = keys.map(key => equalities(key).flatMap(readings(_, side, names, columns)))
    each.foldLeft(Seq(Seq.empty[Expression])) { (some, next) =>
      some.flatMap(before => next.map(before :+ _)).take(MostReadings)
    }.map(KeyReading(_, columns, hashed = true, placed = true))
  }

  /** The ways to split a key into its sides and their type. */
  private def equalities(key: String): Seq[Equality] = for {
    operator <- Seq(" = ", " <=> ")
    i <- places(key, operator)
    j <- places(key, ": ") if j > i
    dataType <- Try(DataType.fromDDL(key.drop(j + 2))).toOption
  } yield Equality(key.take(i), key.slice(i + operator.length, j), dataType)

  private def readings(
      key: Equality,
      side: Side,
      names: Seq[String],
      columns: Seq[Attribute]
  ): Seq[Expression] = {
    val text = if (side == Side.Left) key.left else key.right
    Try(session.sessionState.sqlParser.parseExpression(text)).toOption.toSeq.flatMap { parsed =>
      chosen(parsed, names).flatMap(resolved(_, columns)).filter(e =>
        DataTypeUtils.sameType(e.dataType, key.dataType)
      )
    }
  }

  /** The expression with each column replaced by the name of one with this name. */
  private def chosen(parsed: Expression, names: Seq[String]): Seq[Expression] = {
    val used = parsed.collect { case a: UnresolvedAttribute => a.nameParts.head }.distinct
    val choices = used.foldLeft(Seq(Map.empty[String, String])) { (some, name) =>
      val found = names.indices.filter(names(_) == name).map(i => s"_$i")
      some.flatMap(before => found.map(one => before + (name -> one))).take(MostReadings)
    }
    choices.map { choice =>
      parsed.transform { case a: UnresolvedAttribute =>
        UnresolvedAttribute(choice(a.nameParts.head) +: a.nameParts.tail)
      }
    }
  }

  private def resolved(parsed: Expression, columns: Seq[Attribute]): Option[Expression] = Try {
    val known = parsed.transformUp {
      case f: UnresolvedFunction if f.nameParts.last == Normalized => f.arguments.head
      case f: UnresolvedFunction if f.nameParts.last == Normalizing =>
        NormalizeNaNAndZero(f.arguments.head)
    }
    val plan = Project(Seq(Alias(known, "key")()), LocalRelation(columns))
    val expression = session.sessionState.executePlan(plan).analyzed.expressions.head
    expression.asInstanceOf[Alias].child.transformUp {
      case r: RuntimeReplaceable                       => r.replacement
      case e: TimeZoneAwareExpression if zone.nonEmpty => e.withTimeZone(zone.get)
    }
  }.toOption.filter(_.resolved)
}

private object StoredKeys {

  private final case class Equality(left: String, right: String, dataType: DataType)

  /** More readings mean a row with dozens of columns of one name. */
  private val MostReadings = 256

  // what Spark's planner puts around keys of floating-point numbers, and knows as no function

  private val Normalizing = "normalizenanandzero"

  /** Says that its argument is normalized. */
  private val Normalized = "knownfloatingpointnormalized"

  private def places(text: String, part: String): Seq[Int] =
    Iterator.iterate(text.indexOf(part))(i => text.indexOf(part, i + 1)).takeWhile(_ >= 0).toSeq
}
