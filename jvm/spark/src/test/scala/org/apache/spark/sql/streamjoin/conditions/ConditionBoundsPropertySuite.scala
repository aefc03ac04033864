package org.apache.spark.sql.streamjoin.conditions

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.streamjoin.conditions.Condition.withSettings
import org.apache.spark.sql.types._

import io.streamjoin.testing.RandomCases

/** A comparison of a.COLUMN and b.COLUMN, with OP for the operator and N for the distance. */
private final case class Shape(column: String, sql: String, exact: Boolean = true)

/**
 * Compares the bounds of conditions of all forms with Spark's own evaluation. No accepted pair of
 * rows violates a bound. If a form has one exact distance, some accepted pairs are at the limit.
 */
class ConditionBoundsPropertySuite extends AnyFunSuite {

  private val units = Seq(1L, 1000L, 1000000L, 60000000L, 3600000000L, 86400000000L)

  private val operators = Seq("<", "<=", ">", ">=", "=")

  private val shapes = Seq(
    Shape("t", "a.t OP b.t"),
    Shape("t", "a.t OP b.t + INTERVAL 'N' SECOND"),
    Shape("t", "a.t - b.t OP INTERVAL 'N' MINUTE"),
    Shape("t", "INTERVAL 'N' HOUR OP a.t - b.t"),
    Shape("t", "-(a.t - b.t) OP INTERVAL 'N' MINUTE"),
    Shape("t", "a.t OP timestampadd(MINUTE, N, b.t)"),
    Shape("t", "timestampdiff(MINUTE, a.t, b.t) OP N"),
    Shape("t", "timestampdiff(DAY, b.t, a.t) OP N"),
    Shape("t", "(a.t - b.t) div INTERVAL '2' MINUTE OP N"),
    Shape("t", "unix_seconds(a.t) OP unix_seconds(b.t) + N"),
    Shape("t", "unix_millis(a.t) - unix_millis(b.t) OP N"),
    Shape("t", "unix_micros(a.t) - N OP unix_micros(b.t)"),
    // unix_timestamp rounds towards 1970, and the bound includes times before and after it
    Shape("t", "unix_timestamp(a.t) - unix_timestamp(b.t) OP N", exact = false),
    Shape("t", "CAST(a.t AS BIGINT) - CAST(b.t AS BIGINT) OP N"),
    Shape("t", "CAST(a.t AS DECIMAL(26, 6)) - CAST(b.t AS DECIMAL(26, 6)) OP N"),
    Shape("t", "(unix_seconds(a.t) - unix_seconds(b.t)) / 60 OP N"),
    Shape("t", "(unix_millis(a.t) - unix_millis(b.t)) / 7 OP N"),
    Shape("t", "floor((unix_seconds(a.t) - unix_seconds(b.t)) / 60) OP N"),
    Shape("t", "ceil((unix_millis(a.t) - unix_millis(b.t)) / 1000.0D) OP N"),
    Shape("t", "(unix_seconds(a.t) - unix_seconds(b.t)) div 60 OP N", exact = false),
    Shape("t", "unix_seconds(a.t) div 60 OP unix_seconds(b.t) div 60 + N", exact = false),
    Shape("t", "a.t OP b.t + INTERVAL 'N' DAY"),
    Shape("t", "date_trunc('HOUR', a.t) OP b.t + INTERVAL 'N' HOUR"),
    Shape(
      "t",
      "date_trunc('DAY', a.t) OP date_trunc('DAY', b.t) + INTERVAL 'N' DAY",
      exact = false
    ),
    Shape("t", "date_trunc('MONTH', a.t) OP b.t + INTERVAL 'N' DAY", exact = false),
    Shape("t", "datediff(a.t, b.t) OP N"),
    Shape("t", "CAST(a.t AS DATE) OP CAST(b.t AS DATE) + N"),
    Shape("t", "a.t OP CAST(b.t AS DATE)", exact = false),
    Shape("t", "CAST(a.t AS DATE) OP b.t - INTERVAL 'N' HOUR", exact = false),
    Shape("t", "CAST(a.t AS DATE) - CAST(b.t AS DATE) OP INTERVAL 'N' DAY"),
    Shape("t", "(a.t - b.t) / 3 OP INTERVAL 'N' MINUTE"),
    Shape("t", "(a.t - b.t) / 0.7 OP INTERVAL 'N' SECOND"),
    Shape("t", "(a.t - b.t) * 1.5D OP INTERVAL 'N' SECOND"),
    Shape("t", "CAST(a.t AS BIGINT) + 0.5 OP CAST(b.t AS BIGINT) + N", exact = false),
    Shape("t", "(unix_seconds(a.t) - unix_seconds(b.t)) / 1.5 OP N", exact = false),
    Shape("n", "a.n OP CAST(b.n AS DATE)", exact = false),
    Shape("n", "a.n OP b.n + INTERVAL 'N' HOUR"),
    Shape("n", "timestampdiff(HOUR, a.n, b.n) OP N"),
    Shape("n", "CAST(a.n AS DATE) OP date_sub(b.n, N)"),
    Shape("d", "a.d OP b.d + N"),
    Shape("d", "datediff(a.d, b.d) OP N"),
    Shape("d", "a.d - b.d OP INTERVAL 'N' DAY"),
    Shape("d", "a.d OP b.d + INTERVAL 'N' HOUR", exact = false),
    Shape("d", "trunc(a.d, 'WEEK') OP b.d + N", exact = false),
    Shape("d", "last_day(a.d) OP b.d + N", exact = false),
    Shape("seq", "a.seq OP b.seq + N"),
    Shape("seq", "a.seq - b.seq OP N"),
    Shape("seq", "2 * a.seq OP 2 * b.seq + N", exact = false),
    Shape("seq", "(a.seq - b.seq) / 3 OP N", exact = false),
    Shape("seq", "timestamp_seconds(a.seq) OP timestamp_seconds(b.seq) + INTERVAL 'N' SECOND"),
    Shape(
      "seq",
      "timestamp_millis(a.seq) - timestamp_millis(b.seq) OP INTERVAL 'N' SECOND / 1000"
    ),
    Shape("i", "a.i OP b.i - N"),
    Shape("s", "a.s - N OP b.s")
  )

  private def zones = Seq("UTC", "America/New_York", "Australia/Lord_Howe", "+05:30")

  private def comparison(random: Random, shape: Shape): String = {
    val n = random.nextInt(9) - 4
    val operator = operators(random.nextInt(operators.length))
    val plain = shape.sql.replace(" OP ", s" $operator ").replaceAll("\\bN\\b", n.toString)
    if (operator != "=" && random.nextInt(4) == 0) s"NOT ($plain)" else plain
  }

  /** A value at or next to a full second, minute, hour or day, or near a clock change. */
  private def edge(random: Random, column: String): Long = column match {
    case "t" | "n" =>
      val changes = Seq(1710054000000000L, 1710050400000000L, 1712415600000000L, 0L)
      val unit = units(random.nextInt(units.length))
      val near =
        changes(random.nextInt(changes.length)) + (random.nextInt(200000) - 100000) * 1000000L
      Math.floorDiv(near, unit) * unit + random.nextInt(3) - 1
    case "d" => 19790L + random.nextInt(100)
    case _   => random.nextInt(200) - 100L
  }

  private def rows(values: Map[String, Option[Long]]): InternalRow = {
    val both = Seq("a" -> Condition.a, "b" -> Condition.b).flatMap { case (side, columns) =>
      columns.map(c => values.getOrElse(s"$side.${c.name}", None).map(of(c.dataType, _)).orNull)
    }
    InternalRow.fromSeq(both)
  }

  private def of(dataType: DataType, value: Long): Any = dataType match {
    case IntegerType | DateType => value.toInt
    case ShortType              => value.toShort
    case _                      => value
  }

  test("every pair that Spark accepts satisfies the bounds, and some pairs reach them") {
    var (bounds, reached, refused) = (0, 0, 0)
    RandomCases.forAll(300) { random =>
      val shape = shapes(random.nextInt(shapes.length))
      val zone = zones(random.nextInt(zones.length))
      withSettings("spark.sql.session.timeZone" -> zone) {
        val sql = comparison(random, shape)
        val condition = Condition(sql)
        condition.words // requires equal bounds before and after the optimizer
        val found = condition.found.last.found
        assert(found.nonEmpty, sql)
        for (bound <- found) {
          bounds += 1
          val (later, earlier) = (Condition.name(bound.later), Condition.name(bound.earlier))
          var tight = false
          for (_ <- 0 until 400) {
            val y = edge(random, shape.column)
            val beside = if (random.nextBoolean()) 0 else random.nextInt(5) - 2L
            val far = beside * units(random.nextInt(if (shape.column == "t") 6 else 1))
            val x = y - bound.slack + far
            val pair = rows(Map(later -> Some(x), earlier -> Some(y)))
            def example = s"$sql in $zone: $later = $x, $earlier = $y, $bound"
            val accepted = condition.accepts(pair).contains(true)
            if (accepted) {
              assert(x >= y - bound.slack, example)
              tight |= x == y - bound.slack
            } else if (bound.isWholeConjunct) {
              refused += 1
              assert(x < y - bound.slack, example)
            }
          }
          if (shape.exact && zone == "UTC") assert(tight, s"$sql in $zone: $bound is not reached")
          if (tight) reached += 1
        }
      }
    }
    if (RandomCases.all) assert(reached > bounds / 2 && refused > 500, s"$bounds $reached $refused")
  }

  test("every accepted pair satisfies the bounds of AND, OR, NOT, IN, abs, greatest, least, <=>") {
    var (bounds, pairs) = (0, 0)
    RandomCases.forAll(200) { random =>
      withSettings("spark.sql.session.timeZone" -> zones(random.nextInt(zones.length))) {
        val column = Seq("t", "d", "seq", "s")(random.nextInt(4))
        val sql = composed(random, shapes.filter(_.column == column), column, depth = 2)
        val condition = Condition(sql)
        for (of <- condition.found; bound <- of.found) bounds += 1
        val ends = condition.found.flatMap(_.found).map { b =>
          def bind(e: Expression) = BindReferences.bindReference(e, Condition.a ++ Condition.b)
          (bind(b.later), bind(b.earlier), b)
        }
        for (_ <- 0 until 300) {
          val names =
            Seq("a", "b").flatMap(s => Seq(column, "u", "sure", "until").map(c => s"$s.$c"))
          val origin = edge(random, column)
          val step = if (column == "t") units(2 + random.nextInt(4)) else 1L
          val pair = rows(names.map { name =>
            val value = origin + (random.nextInt(13) - 6) * step + random.nextInt(3) - 1
            name -> Option.when(name.endsWith("sure") || random.nextInt(6) > 0)(value)
          }.toMap)
          if (condition.accepts(pair).contains(true)) {
            pairs += 1
            for ((later, earlier, bound) <- ends) {
              (later.eval(pair), earlier.eval(pair)) match {
                case (x: Number, y: Number) =>
                  assert(
                    BigInt(x.longValue) >= BigInt(y.longValue) - bound.slack,
                    s"$sql: $x, $y, $bound"
                  )
                case (x, y) => fail(s"$sql accepts NULL: $x, $y, $bound")
              }
            }
          }
        }
      }
    }
    if (RandomCases.all) assert(bounds > 200 && pairs > 2500, s"$bounds $pairs")
  }

  private val inUnits = Seq(
    "timestamp_seconds(a.seq) OP timestamp_millis(b.seq) + INTERVAL 'N' SECOND",
    "a.seq * 1000 OP b.seq + N",
    "b.seq - 1000 * a.seq OP N",
    "a.i * 60L OP b.i * 24L + N",
    "b.seq div 1000 OP a.seq + N",
    "timestampdiff(SECOND, timestamp_millis(b.seq), timestamp_seconds(a.seq)) OP N"
  )

  test("every accepted pair of numbers in different units satisfies the bounds") {
    var (bounds, reached) = (0, 0)
    RandomCases.forAll(120) { random =>
      val sql = comparison(random, Shape("seq", inUnits(random.nextInt(inUnits.length))))
      val condition = Condition(sql)
      condition.wordsInUnits
      val found = condition.foundInUnits.last.found
      assert(found.nonEmpty, sql)
      for (bound <- found) {
        bounds += 1
        def bind(e: Expression) = BindReferences.bindReference(e, Condition.a ++ Condition.b)
        val (later, earlier) = (bind(bound.later), bind(bound.earlier))
        var tight = false
        for (_ <- 0 until 2000) {
          val far = if (random.nextInt(8) == 0) Long.MaxValue / 1000 - 100 else 0L
          val a = far + random.nextInt(13) - 6
          val beside = (random.nextInt(13) - 6) * (if (random.nextBoolean()) 1000 else 1)
          val b = a * 1000 + beside + random.nextInt(3) - 1
          val near =
            Seq("a.seq" -> a, "a.i" -> (a - far), "b.seq" -> b, "b.i" -> (a - far + beside % 7))
          val pair = rows(near.map { case (name, n) => name -> Some(n) }.toMap)
          if (condition.accepts(pair).contains(true)) {
            val (x, y) =
              (BigInt(later.eval(pair).asInstanceOf[Number].longValue), earlier.eval(pair))
            val least = BigInt(y.asInstanceOf[Number].longValue) - bound.slack
            assert(x >= least, s"$sql: $pair, $bound")
            tight |= x == least
          }
        }
        if (tight) reached += 1
      }
    }
    if (RandomCases.all) assert(reached > bounds / 4, s"$bounds $reached")
  }

  private def composed(random: Random, of: Seq[Shape], column: String, depth: Int): String = {
    def leaf = comparison(random, of(random.nextInt(of.length)))
    def inner = if (random.nextBoolean()) leaf else composed(random, of, column, depth - 1)
    def time(side: String) =
      if (column == "t" && random.nextBoolean()) s"$side.u" else s"$side.$column"
    if (depth == 0) leaf
    else
      random.nextInt(8) match {
        case 0 | 1 => s"($inner) AND ($inner)"
        case 2     => s"($inner) OR ($inner)"
        case 3     => s"NOT ($inner)"
        case 4     => s"${time("a")} <=> ${time("b")} AND ($inner)"
        case 5     => s"greatest(a.$column, ${time("a")}) <= b.$column AND ($inner)"
        case 6     => s"b.$column <= least(${time("a")}, a.$column) AND ($inner)"
        case 7 if random.nextBoolean() =>
          val most = if (column == "t") s"INTERVAL '${random.nextInt(100)}' MINUTE" else "5"
          val (x, y) = (s"a.$column", s"b.$column")
          val distance =
            if (column == "d") s"datediff(greatest($x, $y), least($x, $y))"
            else s"greatest($x, $y) - least($x, $y)"
          s"$distance <= $most AND $x IS NOT NULL AND $y IS NOT NULL"
        case 7 =>
          column match {
            case "t" => s"abs(a.t - ${time("b")}) < INTERVAL '${random.nextInt(100)}' MINUTE"
            case "d" => "datediff(a.d, b.d) IN (-1, 2)"
            case _   => s"abs(a.$column - b.$column) <= ${random.nextInt(10)}"
          }
      }
  }
}
