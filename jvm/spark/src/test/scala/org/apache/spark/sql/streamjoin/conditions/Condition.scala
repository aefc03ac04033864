package org.apache.spark.sql.streamjoin.conditions

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.catalog.{InMemoryCatalog, SessionCatalog}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.SimpleTestOptimizer
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.{Inner, PlanTest}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.connector.catalog.DefaultCatalogManager
import org.apache.spark.sql.types._

/**
 * A condition between two inputs `a` and `b`, after the analyzer and after the optimizer. A query
 * derives its bounds from both.
 */
final class Condition private (sql: String, val analyzed: Expression, optimized: Expression) {
  import Condition._

  private def bounds(multiples: Boolean): Seq[ConditionBounds] =
    Seq(analyzed, optimized).map { e =>
      ConditionBounds.of(
        e,
        AttributeSet(a),
        AttributeSet(b),
        AttributeSet(times),
        multiples = multiples
      )
    }

  val found: Seq[ConditionBounds] = bounds(multiples = false)

  /** The bounds if numbers in different units may be compared. */
  val foundInUnits: Seq[ConditionBounds] = bounds(multiples = true)

  /** The bounds as text. They must be equal before and after the optimizer. */
  def words: Set[String] = words(found)

  def wordsInUnits: Set[String] = words(foundInUnits)

  private def words(found: Seq[ConditionBounds]): Set[String] = {
    val both = found.map(_.found.map(inWords).toSet)
    require(both.distinct.length == 1, s"$sql: ${both.mkString(" but optimized ")}")
    both.head
  }

  def reasons: Set[RejectedBound.Reason] = found.head.rejected.map(_.reason).toSet

  /** Whether Spark accepts a pair of rows; None if the evaluation fails. */
  def accepts(rows: InternalRow): Option[Boolean] = Try(evaluated.eval(rows) == true).toOption

  private lazy val evaluated = BindReferences.bindReference(optimized, a ++ b)
}

object Condition extends PlanTest {

  private val columns = new StructType()
    .add("t", TimestampType)
    .add("u", TimestampType)
    .add("n", TimestampNTZType)
    .add("d", DateType)
    .add("seq", LongType)
    .add("i", IntegerType)
    .add("s", ShortType)
    .add("k", IntegerType)
    .add("x", DoubleType)
    .add("until", TimestampType)
    .add("wait", DayTimeIntervalType())
    .add("sure", TimestampType, nullable = false)

  val a: Seq[Attribute] = toAttributes(columns)
  val b: Seq[Attribute] = toAttributes(columns)

  private def toAttributes(s: StructType) =
    s.map(f => AttributeReference(f.name, f.dataType, f.nullable)())

  /** The event-time columns. */
  val times: Seq[Attribute] =
    Seq(a, b).flatMap(_.filterNot(c => Set("k", "x", "until", "wait")(c.name)))

  private val analyzer = new Analyzer(
    new DefaultCatalogManager(
      FakeV2SessionCatalog,
      new SessionCatalog(
        new InMemoryCatalog,
        FunctionRegistry.builtin,
        TableFunctionRegistry.builtin
      )
    )
  )

  def apply(sql: String): Condition = {
    def input(name: String, output: Seq[Attribute]) =
      SubqueryAlias(name, LocalRelation(output, Nil, isStreaming = true))
    val join = Join(input("a", a), input("b", b), Inner, None, JoinHint.NONE)
    val condition = CatalystSqlParser.parseExpression(sql)
    val plan = analyzer.execute(Project(Seq(Alias(condition, "c")()), join))
    analyzer.checkAnalysis(plan)
    val plain = plan.transformExpressions { case alias @ Alias(e, _) =>
      alias.withNewChildren(Seq(PlainCondition.of(e)))
    }
    new Condition(sql, conditionOf(plain), conditionOf(SimpleTestOptimizer.execute(plain)))
  }

  private def conditionOf(plan: LogicalPlan): Expression =
    plan.collectFirst { case Project(Seq(Alias(e, "c")), _) => e }.get

  /** Runs a body with settings of the session. */
  def withSettings[T](settings: (String, String)*)(f: => T): T = {
    var result: Option[T] = None
    withSQLConf(settings: _*) { result = Some(f) }
    result.get
  }

  /** The name of a column, or the columns of an expression over one row. */
  def name(e: Expression): String = e match {
    case c: Attribute          => s"${if (AttributeSet(a).contains(c)) "a" else "b"}.${c.name}"
    case MultipleOf(c, factor) => s"$factor ${name(c)}"
    case other => other.references.toSeq.map(name).sorted.mkString("row(", ", ", ")")
  }

  private def inWords(f: FoundBound): String = {
    val distance =
      if (f.slack == 0) "" else if (f.slack > 0) s" - ${f.slack}" else s" + ${-BigInt(f.slack)}"
    s"${name(f.later)} >= ${name(f.earlier)}$distance"
  }
}
