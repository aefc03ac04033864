package org.apache.spark.sql.streamjoin.sql

import java.lang.reflect.{InvocationHandler, Method, Proxy}

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser._
import org.apache.spark.sql.catalyst.plans.logical.{Join, OneRowRelation}
import org.apache.spark.sql.streamjoin.errors.StreamJoinConditions
import org.apache.spark.sql.types.{IntegerType, StructType}

class StreamSqlParserSuite extends AnyFunSuite {

  StreamJoinConditions.register()

  private val Window = "SELECT * FROM a JOIN t OVER (RANGE INTERVAL '1' DAY FOLLOWING) ON TRUE"

  private val Rewritten =
    "SELECT * FROM a JOIN STREAM_WINDOW(TABLE(SELECT * FROM t ), INTERVAL '1' DAY, 'FOLLOWING') " +
      "ON TRUE"

  /** A parser with a fixed answer for each method. It records the calls. */
  private class Recorder(answers: Map[String, AnyRef]) extends InvocationHandler {
    val received: mutable.Buffer[(String, Seq[AnyRef])] = mutable.Buffer.empty

    val parser: ParserInterface = Proxy
      .newProxyInstance(getClass.getClassLoader, Array(classOf[ParserInterface]), this)
      .asInstanceOf[ParserInterface]

    override def invoke(proxy: Object, method: Method, arguments: Array[Object]): Object = {
      received += method.getName -> Option(arguments).toSeq.flatten
      answers(method.getName)
    }
  }

  private val answers: Map[String, AnyRef] = Map(
    "parsePlan" -> OneRowRelation(),
    "parsePlanWithParameters" -> OneRowRelation(),
    "parseQuery" -> OneRowRelation(),
    "parseExpression" -> Literal(1),
    "parseTableIdentifier" -> TableIdentifier("t"),
    "parseFunctionIdentifier" -> FunctionIdentifier("f"),
    "parseMultipartIdentifier" -> Seq("a", "b"),
    "parseTableSchema" -> new StructType().add("a", IntegerType),
    "parseDataType" -> IntegerType,
    "parseRoutineParam" -> new StructType().add("p", IntegerType)
  )

  private val parameters = NamedParameterContext(Map("p" -> Literal(1)))

  private val calls: Map[String, (ParserInterface, String) => AnyRef] = Map(
    "parsePlan" -> ((p, text) => p.parsePlan(text)),
    "parsePlanWithParameters" -> ((p, text) => p.parsePlanWithParameters(text, parameters)),
    "parseQuery" -> ((p, text) => p.parseQuery(text)),
    "parseExpression" -> ((p, text) => p.parseExpression(text)),
    "parseTableIdentifier" -> ((p, text) => p.parseTableIdentifier(text)),
    "parseFunctionIdentifier" -> ((p, text) => p.parseFunctionIdentifier(text)),
    "parseMultipartIdentifier" -> ((p, text) => p.parseMultipartIdentifier(text)),
    "parseTableSchema" -> ((p, text) => p.parseTableSchema(text)),
    "parseDataType" -> ((p, text) => p.parseDataType(text)),
    "parseRoutineParam" -> ((p, text) => p.parseRoutineParam(text))
  )

  test("each method of ParserInterface is tested") {
    val methods = classOf[ParserInterface].getMethods.map(_.getName).filterNot(_.contains("$"))
    assert(methods.toSet == calls.keySet)
  }

  for ((method, call) <- calls) {
    test(s"$method passes an unaffected string to the wrapped parser unchanged") {
      val recorder = new Recorder(answers)
      val text = new String("whatever stands over there")
      assert(call(StreamSqlParser.around(recorder.parser), text) eq answers(method))
      assert(recorder.received.length == 1)
      val (called, arguments) = recorder.received.head
      assert(called == method)
      assert(arguments.head eq text)
      if (method == "parsePlanWithParameters") assert(arguments(1) eq parameters)
    }
  }

  for (method <- Seq("parsePlan", "parsePlanWithParameters", "parseQuery", "parseExpression"))
    test(s"$method rewrites a window") {
      val recorder = new Recorder(answers)
      assert(calls(method)(StreamSqlParser.around(recorder.parser), Window) eq answers(method))
      assert(recorder.received.map { case (m, a) => m -> a.head } == Seq(method -> Rewritten))
    }

  test("a StreamSqlParser is not wrapped again") {
    val once = StreamSqlParser.around(new Recorder(answers).parser)
    assert(StreamSqlParser.around(once) eq once)
  }

  private def read(text: String): String = {
    val recorder = new Recorder(answers)
    StreamSqlParser.around(recorder.parser).parsePlan(text)
    recorder.received.head._2.head.toString
  }

  private def untouched(text: String): Unit = {
    val recorder = new Recorder(answers)
    StreamSqlParser.around(recorder.parser).parsePlan(text)
    assert(recorder.received.head._2.head eq text)
  }

  private val Frame = "OVER (RANGE INTERVAL '1' DAY PRECEDING)"
  private def window(relation: String) =
    s"STREAM_WINDOW(TABLE(SELECT * FROM $relation ), INTERVAL '1' DAY, 'PRECEDING')"

  for (
    relation <- Seq(
      "t",
      "db.t",
      "`over (`.`t`",
      "STREAM t",
      "STREAM(t)",
      "(SELECT a, b FROM u WHERE a IN (1, 2))",
      "IMPOSE_ORDER(TABLE(t), DESCRIPTOR(c), INTERVAL '1' MINUTE)",
      "t WATERMARK c DELAY OF INTERVAL '1' MINUTE",
      "(a JOIN b ON a.x = b.x)",
      "t /* over (range */",
      "t -- over\n"
    )
  ) {
    test(s"the parser rewrites a window on $relation") {
      for (
        (before, after) <- Seq(
          "SELECT * FROM " -> " AS w JOIN u ON TRUE",
          "SELECT * FROM u JOIN " -> " w ON rank() OVER (ORDER BY x) = 1",
          "SELECT rank() OVER (ORDER BY x ROWS 1 PRECEDING), z FROM u, " -> ", v",
          "SELECT * FROM u LEFT JOIN v ON f(u.a, v.a), " -> " w WHERE a IS DISTINCT FROM b",
          "CREATE VIEW v AS WITH c AS (SELECT * FROM u SEMI JOIN " -> " USING (x)) TABLE c",
          "SELECT * FROM (u JOIN " -> " ON TRUE)",
          "SELECT * FROM u WHERE EXISTS (SELECT 1 FROM " -> ")",
          "FROM " -> " SELECT *"
        )
      ) {
        val place = if (relation.endsWith("\n")) relation else relation + " "
        assert(
          read(
            before + place + Frame + after
          ) == before + window(relation.stripSuffix(" ")).replace(
            relation + " )",
            place + ")"
          ) + after
        )
      }
    }
  }

  test("the parser rewrites windows on both inputs and nested windows") {
    assert(
      read(s"SELECT * FROM a $Frame x JOIN b $Frame y ON x.i = y.i") ==
        s"SELECT * FROM ${window("a")} x JOIN ${window("b")} y ON x.i = y.i"
    )
    val inner = s"(SELECT * FROM a JOIN b $Frame ON TRUE)"
    val readInner = s"(SELECT * FROM a JOIN ${window("b")} ON TRUE)"
    assert(read(s"SELECT * FROM $inner $Frame") == s"SELECT * FROM ${window(readInner)}")
  }

  test("the parser rewrites RANGE BETWEEN") {
    assert(
      read(
        "SELECT * FROM t OVER (RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND :n + 1 FOLLOWING)"
      ) == "SELECT * FROM STREAM_WINDOW(TABLE(SELECT * FROM t ), INTERVAL '1' DAY, 'PRECEDING', " +
        ":n + 1, 'FOLLOWING')"
    )
    assert(
      read("SELECT * FROM t OVER (RANGE BETWEEN CURRENT ROW AND 5 FOLLOWING)") ==
        "SELECT * FROM STREAM_WINDOW(TABLE(SELECT * FROM t ), INTERVAL '0' SECOND, 'FOLLOWING', " +
        "5, 'FOLLOWING')"
    )
  }

  for (
    text <- Seq(
      "SELECT * FROM a JOIN t OVER (RANGE) ON TRUE",
      "SELECT * FROM a JOIN t OVER (RANGE, ROWS) ON TRUE",
      "SELECT * FROM t OVER",
      "SELECT * FROM rank() OVER (ORDER BY random())",
      "SELECT a, rank() OVER (RANGE INTERVAL '1' DAY PRECEDING) FROM t",
      "SELECT EXTRACT(DAY FROM max(x) OVER (RANGE 1 PRECEDING)) FROM t",
      "SELECT * FROM a JOIN b ON a.x = max(b.x) OVER (ORDER BY b.y RANGE 1 PRECEDING)",
      "SELECT a IS DISTINCT FROM sum(b) OVER (RANGE 1 PRECEDING) FROM t",
      "SELECT 'FROM t OVER (RANGE 1 PRECEDING)' -- FROM t OVER (RANGE 1 PRECEDING)",
      "SELECT `a over (range 1 preceding)` FROM t",
      "SELECT stream FROM t",
      "SELECT stream, a FROM t",
      "SELECT stream a FROM t",
      "SELECT stream AS a FROM t",
      "SELECT stream.a FROM t",
      "SELECT stream(a) FROM t",
      "SELECT stream * 2 FROM t",
      "SELECT stream - 1, stream + 1 FROM t",
      "SELECT stream IS NULL, a FROM t",
      "SELECT stream NOT IN (1, 2) FROM t",
      "SELECT stream[0] FROM t",
      "SELECT a FROM STREAM t",
      "SELECT * FROM orders outer JOIN t over (a, b) ON TRUE"
    )
  )
    test(s"the parser does not change $text")(untouched(text))

  test("the parser removes STREAM behind SELECT") {
    assert(read("SELECT STREAM * FROM t") == "SELECT * FROM t")
    assert(read("select stream o.a, b from t") == "select o.a, b from t")
    assert(read("SELECT STREAM a AS b FROM t") == "SELECT a AS b FROM t")
    assert(read("SELECT STREAM f(a) FROM t") == "SELECT f(a) FROM t")
    assert(read("SELECT STREAM DISTINCT a FROM t") == "SELECT DISTINCT a FROM t")
    assert(read("SELECT STREAM 'x' FROM t") == "SELECT 'x' FROM t")
    assert(read("SELECT STREAM ROWTIME, a FROM t") == "SELECT ROWTIME, a FROM t")
    assert(read(s"SELECT STREAM a FROM t $Frame") == s"SELECT a FROM ${window("t")}")
    assert(
      read("SELECT STREAM a FROM IMPOSE_ORDER(TABLE(t), 'c', 1)") ==
        "SELECT a FROM IMPOSE_ORDER(TABLE(t), 'c', 1)"
    )
  }

  test("the parser rewrites OUTER JOIN and a comma before FROM in a SELECT STREAM") {
    assert(
      read("SELECT STREAM o.a, b, FROM o OUTER JOIN t ON TRUE LEFT OUTER JOIN u ON TRUE") ==
        "SELECT o.a, b FROM o FULL OUTER JOIN t ON TRUE LEFT OUTER JOIN u ON TRUE"
    )
  }

  test("the parser rewrites JOIN SELECT * FROM IMPOSE_ORDER without parentheses") {
    assert(
      read("SELECT * FROM a JOIN SELECT * FROM IMPOSE_ORDER(TABLE(t), 'c', 1) AS d ON TRUE") ==
        "SELECT * FROM a JOIN IMPOSE_ORDER(TABLE(t), 'c', 1) AS d ON TRUE"
    )
  }

  test("the parser removes TABLE around IMPOSE_ORDER only") {
    val order = "IMPOSE_ORDER(TABLE(t), DESCRIPTOR(c), INTERVAL '1' DAY)"
    assert(read(s"SELECT * FROM TABLE($order)") == s"SELECT * FROM $order")
    assert(
      read(s"SELECT * FROM a, TABLE ( $order ) AS o JOIN TABLE($order) p ON TRUE") ==
        s"SELECT * FROM a, $order  AS o JOIN $order p ON TRUE"
    )
    assert(
      read(s"SELECT * FROM TABLE($order) $Frame AS o JOIN t ON TRUE") ==
        s"SELECT * FROM ${window(order)} AS o JOIN t ON TRUE"
    )
    for (other <- Seq(s"IMPOSE_ORDER(TABLE($order), 'c', 1)", s"f(TABLE($order))", "table(t)")) {
      assert(read(s"SELECT impose_order FROM $other") == s"SELECT impose_order FROM $other")
    }
    assert(read(s"SELECT * FROM TABLE($order") == s"SELECT * FROM TABLE($order")
  }

  test("the parser adds parentheses to TABLE t as the input of IMPOSE_ORDER") {
    for (name <- Seq("t", "db.t", "`a b`.date.t")) {
      assert(
        read(s"SELECT * FROM impose_order(TABLE $name, 'c', 1)") ==
          s"SELECT * FROM impose_order(TABLE ($name), 'c', 1)"
      )
      assert(
        read(s"SELECT * FROM impose_order(lag => 1, input=>TABLE $name , column => 'c')") ==
          s"SELECT * FROM impose_order(lag => 1, input=>TABLE ($name) , column => 'c')"
      )
    }
    val others = "impose_order(TABLE (t), 'c', 1), f(TABLE t), (TABLE t), f(x => TABLE t)"
    assert(read(s"SELECT * FROM $others") == s"SELECT * FROM $others")
  }

  private val spark = StreamSqlParser.around(new org.apache.spark.sql.execution.SparkSqlParser)

  /** The condition of an error, the fragment that it points at, and its line and position. */
  private def refused(text: String): (String, String, Int, Int) = {
    val e = intercept[ParseException](spark.parsePlan(text))
    assert(e.command.contains(text))
    val fragment = e.getQueryContext.headOption.fold("")(_.fragment)
    (e.getCondition, fragment, e.line.get, e.startPosition.get)
  }

  for (
    (frame, reason) <- Seq(
      "ROWS 10 FOLLOWING" -> "selects the last rows",
      "ROWS BETWEEN 10 PRECEDING AND CURRENT ROW" -> "selects the last rows",
      "ROWS UNBOUNDED PRECEDING" -> "UNBOUNDED",
      "RANGE UNBOUNDED PRECEDING" -> "UNBOUNDED",
      "RANGE CURRENT ROW" -> "CURRENT ROW",
      "RANGE INTERVAL '1' DAY" -> "PRECEDING or FOLLOWING",
      "INTERVAL '1' DAY PRECEDING" -> "RANGE",
      "PARTITION BY a RANGE INTERVAL '1' DAY PRECEDING" -> "PARTITION BY or ORDER BY",
      "ORDER BY a RANGE INTERVAL '1' DAY PRECEDING" -> "PARTITION BY or ORDER BY",
      "RANGE BETWEEN INTERVAL '1' DAY PRECEDING" -> "second bound",
      "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" -> "UNBOUNDED",
      "RANGE FOLLOWING INTERVAL" -> "PRECEDING or FOLLOWING"
    )
  ) {
    test(s"OVER ($frame) is refused with its position") {
      val text = s"SELECT *\n  FROM a JOIN t OVER ($frame) ON TRUE"
      assert(
        refused(text) == (("STREAM_JOIN.INVALID_WINDOW", s"OVER ($frame)", 2, 16))
      )
      assert(intercept[ParseException](spark.parsePlan(text)).getMessage.contains(reason))
    }
  }

  test("a syntax error has its position in the original text") {
    val text = s"SELECT STREAM a, 'ÿ𝄞'\nFROM a JOIN t $Frame AS t ONE TRUE\nWHERE b"
    val (condition, _, line, place) = refused(text)
    assert((condition, line) == (("PARSE_SYNTAX_ERROR", 2)))
    assert(text.linesIterator.toSeq(1).substring(place).startsWith("ONE"))
    val message = intercept[ParseException](spark.parsePlan(text)).getMessage
    assert(text.linesIterator.forall(message.contains(_)))
  }

  test("nodes and expressions have their positions in the original text") {
    val text =
      s"SELECT STREAM x.a, 1 + b\nFROM a JOIN t $Frame AS t ON x.a = (SELECT max(c) FROM d)"
    val plan = spark.parsePlan(text)
    val places = plan.collectWithSubqueries { case p => p }.flatMap(p =>
      p.origin +: p.expressions.flatMap(_.map(_.origin))
    )
    assert(places.forall(_.sqlText.contains(text)))
    def found(fragment: String) = places.exists(_.context match {
      case c: org.apache.spark.sql.catalyst.trees.SQLQueryContext =>
        c.fragment == fragment && text.linesIterator.toSeq(c.line.get - 1).substring(
          c.startPosition.get
        ).startsWith(fragment.take(5))
      case _ => false
    })
    for (
      f <- Seq(
        "x.a",
        "1 + b",
        s"t $Frame AS t",
        "INTERVAL '1' DAY",
        "x.a = (SELECT max(c) FROM d)",
        "max(c)"
      )
    )
      assert(found(f), f)
  }

  test("the values of parameters are bound, and do not shift the positions behind them") {
    val text = s"SELECT * FROM a JOIN t OVER (RANGE INTERVAL :n MINUTE FOLLOWING) ON :flag AND b.c"
    val values = Map("n" -> Literal("10000000"), "flag" -> Literal(true))
    val plan = spark.parsePlanWithParameters(text, NamedParameterContext(values))
    val window = plan.collectFirst { case f: UnresolvedTableValuedFunction => f.functionArgs.tail }
    assert(window.map(_.map(_.sql)) == Some(Seq("INTERVAL '10000000' MINUTE", "'FOLLOWING'")))
    val condition = plan.collectFirst { case j: Join => j.condition.map(_.sql) }.flatten
    assert(condition == Some("(true AND b.c)"))
    val places = plan.collect { case p => p.expressions.flatMap(_.map(_.origin)) }.flatten
    assert(places.map(_.context).exists {
      case c: org.apache.spark.sql.catalyst.trees.SQLQueryContext => c.fragment == "b.c"
      case _                                                      => false
    })
  }

}
