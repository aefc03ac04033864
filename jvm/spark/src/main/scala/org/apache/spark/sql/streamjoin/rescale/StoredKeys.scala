package org.apache.spark.sql.streamjoin.rescale

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{
  FunctionRegistry,
  UnresolvedAttribute,
  UnresolvedExtractValue,
  UnresolvedFunction
}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
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
 * The text may call functions that Spark has built in, and no others: whoever can write the
 * checkpoint must not choose which code of the session runs.
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
    parsed(text).filter(refusedIn(_).isEmpty).toSeq.flatMap { expression =>
      chosen(expression, names, columns).flatMap(resolved(_, columns)).filter(e =>
        DataTypeUtils.sameType(e.dataType, key.dataType)
      )
    }
  }

  /** What a key has that it may not have: a function that is not built in, or a sub-query. */
  def refused(keys: Seq[String]): Option[String] = (for {
    key <- keys.iterator
    equality <- equalities(key)
    text <- Seq(equality.left, equality.right)
    found <- parsed(text).flatMap(refusedIn)
  } yield found).nextOption()

  private def parsed(text: String): Option[Expression] =
    Try(CatalystSqlParser.parseExpression(text)).toOption.map(_.transformDown {
      case Call(Normalized, Seq(Call(Normalizing, Seq(number)))) => number
      case Call(Normalized, Seq(Call(OfEach, Seq(array, _))))    => array
      case Call(Normalized, Seq(struct))                         => struct
    })

  private def refusedIn(e: Expression): Option[String] = e.collectFirst {
    case f: UnresolvedFunction if !isAllowed(f) => s"the function ${f.nameParts.mkString(".")}"
    case _: SubqueryExpression                  => "a sub-query"
    case other if !isOfSpark(other)             => other.prettyName
  }

  private def isAllowed(f: UnresolvedFunction): Boolean = f.nameParts.length == 1 &&
    !Refused(f.nameParts.head.toLowerCase(Locale.ROOT)) && !f.isDistinct && f.filter.isEmpty &&
    FunctionRegistry.builtin.functionExists(FunctionIdentifier(f.nameParts.head))

  private def isOfSpark(e: Expression): Boolean = e match {
    case _: UnresolvedFunction | _: UnresolvedAttribute | _: UnresolvedExtractValue => true
    case _ => e.getClass.getPackageName == classOf[Expression].getPackageName
  }

  /** The expression with each column replaced by one with this name, and built-in functions. */
  private def chosen(
      parsed: Expression,
      names: Seq[String],
      columns: Seq[Attribute]
  ): Seq[Expression] = {
    val used = parsed.collect { case a: UnresolvedAttribute => a.nameParts.head }.distinct
    val choices = used.foldLeft(Seq(Map.empty[String, Attribute])) { (some, name) =>
      val found = names.indices.filter(names(_) == name).map(columns)
      some.flatMap(before => found.map(one => before + (name -> one))).take(MostReadings)
    }
    choices.flatMap { choice =>
      Try(parsed.transformUp {
        case a: UnresolvedAttribute =>
          a.nameParts.tail.foldLeft[Expression](choice(a.nameParts.head)) { (of, field) =>
            UnresolvedExtractValue(of, Literal(field))
          }
        // not by the session, whose functions may have the same name
        case Call(name, arguments) =>
          FunctionRegistry.builtin.lookupFunction(FunctionIdentifier(name), arguments)
      }).toOption
    }
  }

  private def resolved(known: Expression, columns: Seq[Attribute]): Option[Expression] = Try {
    val plan = Project(Seq(Alias(known, "key")()), LocalRelation(columns))
    val expression = session.sessionState.executePlan(plan).analyzed.expressions.head
    NormalizeFloatingNumbers.normalize(expression.asInstanceOf[Alias].child).transformUp {
      case r: RuntimeReplaceable                       => r.replacement
      case e: TimeZoneAwareExpression if zone.nonEmpty => e.withTimeZone(zone.get)
    }
  }.toOption.filter(e => e.resolved && e.deterministic && !e.exists(isOfQuery))

  /** Whether an expression has a value only within a query, as an aggregate function. */
  private def isOfQuery(e: Expression): Boolean = e match {
    case _: Attribute                                         => false
    case _: Unevaluable | _: AggregateFunction | _: Generator => true
    case _                                                    => false
  }
}

private object StoredKeys {

  private final case class Equality(left: String, right: String, dataType: DataType)

  /** More readings mean a row with dozens of columns of one name. */
  private val MostReadings = 256

  // what Spark puts around keys of floating-point numbers, and does not know as functions. It
  // puts them around the key again

  private val Normalizing = "normalizenanandzero"

  /** Says that its argument is normalized. */
  private val Normalized = "knownfloatingpointnormalized"

  /** Normalizes each element of an array. */
  private val OfEach = "transform"

  /** Built-in functions that call code by name, read files, or fail on purpose. */
  private val Refused = Set(
    "reflect",
    "java_method",
    "try_reflect",
    "raise_error",
    "assert_true",
    "from_avro",
    "to_avro",
    "schema_of_avro",
    "from_protobuf",
    "to_protobuf"
  )

  private object Call {
    def unapply(f: UnresolvedFunction): Option[(String, Seq[Expression])] =
      Some((f.nameParts.last, f.arguments))
  }

  private def places(text: String, part: String): Seq[Int] =
    Iterator.iterate(text.indexOf(part))(i => text.indexOf(part, i + 1)).takeWhile(_ >= 0).toSeq
}
