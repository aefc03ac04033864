package org.apache.spark.sql.streamjoin.logical.times

import scala.util.Random

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.logical.StreamsInSql.near
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{KeyedWatermarks, StreamJoin}
import org.apache.spark.sql.types._

/**
 * A plan has the same event times, with the same watermarks, before and after Spark's optimizer. A
 * query is accepted by its analyzed plan and runs by its optimized plan.
 */
class OptimizedTimesSuite extends StreamsInSql {
  import OptimizedTimesSuite._

  /** The event times of a plan by name, each with its watermark, and the lengths of windows. */
  private def times(plan: LogicalPlan): Map[String, Long] = {
    val known = TimeColumns.of(KeyedWatermarks.of(plan))
    val bases = known.bases.map {
      case b: BaseColumn.Imposed    => 1000L * (b.id.hashCode & 0xffff)
      case _: BaseColumn.Propagated => 77L
    }.toArray
    val watermarks =
      plan.output.flatMap(a => known.columns.get(a.exprId).map(a.name -> _.eval(bases)))
    val lengths =
      plan.output.flatMap(a => known.lengths.get(a.exprId).map(s"length of ${a.name}" -> _))
    (watermarks ++ lengths).toMap
  }

  private def same(df: DataFrame): Map[String, Long] = {
    val before = times(df.asInstanceOf[classic.DataFrame].queryExecution.analyzed)
    val after = optimized(df)
    assert(
      times(after) == before,
      s"\n${df.asInstanceOf[classic.DataFrame].queryExecution.analyzed}\n$after"
    )
    before
  }

  private def stream: DataFrame = spark.table("oi").select(
    col("id"),
    col("k").cast(IntegerType).as("k"),
    col("ot").as("t")
  )

  /** The row with the latest time of each window and key, as a struct `s`. */
  private def latest(df: DataFrame): DataFrame =
    df.groupBy(window(col("t"), "2 seconds").as("w"), col("k"))
      .agg(max(struct(col("t"), col("id"))).as("s"))

  private val cases: Seq[(String, DataFrame => DataFrame, Set[String])] = Seq(
    (
      "the end of a window",
      _.select(window(col("t"), "2 seconds").as("w")).select("w.end"),
      Set("end")
    ),
    (
      "the end of a window with its start",
      _.select(window(col("t"), "2 seconds").as("w")).selectExpr("w.end AS e", "w.start AS s"),
      Set("e")
    ),
    (
      "the end of a window with a start offset",
      _.select(window(col("t"), "1 hour", "1 hour", "10 minutes").as("w")).select("w.end"),
      Set("end")
    ),
    (
      "the end of sliding windows",
      _.select(window(col("t"), "3 seconds", "2 seconds").as("w")).select("w.end"),
      Set("end")
    ),
    (
      "the window of the end of a window",
      _.select(window(col("t"), "2 seconds").as("w")).select(col("w.end").as("e"))
        .select(window(col("e"), "3 seconds").as("v")).select("v.end"),
      Set("end")
    ),
    (
      "a field of a struct",
      _.select(struct(col("t").as("a"), col("k")).as("s")).select("s.a", "s.k"),
      Set("a")
    ),
    (
      "a window in a nested struct",
      _.select(window(col("t"), "2 seconds").as("w"), col("t"))
        .select(struct(struct(col("w"), col("t")).as("i")).as("s"))
        .select(col("s.i.w.end").as("e"), col("s.i.t"), col("s.i.w").as("v")),
      Set("e", "t", "v")
    ),
    (
      "a field of a struct that gets another field",
      _.select(struct(col("t").as("a")).as("s")).select(col("s").withField("b", lit(1)).as("s"))
        .select("s.a", "s.b"),
      Set("a")
    ),
    (
      "the end of a grouping window",
      _.groupBy(window(col("t"), "2 seconds").as("w")).count().select(
        col("w.end").as("e"),
        col("w")
      ),
      Set("e", "w")
    ),
    (
      "a struct with a grouping window",
      _.groupBy(window(col("t"), "2 seconds").as("w")).count()
        .select(struct(col("w"), col("w.end").as("e")).as("s")).select("s.w", "s.e"),
      Set("w", "e")
    ),
    (
      "a union of windows",
      df => {
        val ends = df.select(window(col("t"), "2 seconds").as("w"), struct(col("t")).as("s"))
        ends.union(ends).select("w.end", "s.t")
      },
      Set("end", "t")
    ),
    (
      "window_time of a grouping window, and of its window",
      df =>
        latest(df).select(window_time(col("w")).as("e")).select(
          col("e"),
          window(col("e"), "3 seconds").as("v")
        ).select(col("e"), col("v"), window_time(col("v")).as("f")),
      Set("e", "v", "f")
    ),
    (
      "a session and its window_time",
      _.groupBy(session_window(col("t"), "2 seconds").as("w")).count()
        .select(col("w"), window_time(col("w")).as("e")),
      Set("w", "e")
    ),
    (
      "a session of each row",
      _.select(session_window(col("t"), "2 seconds").as("w"), col("t")),
      Set("w", "t")
    ),
    (
      "a grouping field of a struct",
      df => latest(df).groupBy("s.t").count(),
      Set("t")
    ),
    (
      "a field of an aggregated struct",
      df => latest(df).select(col("w"), col("s.t"), col("k")),
      Set("w")
    ),
    (
      "windows of a field of an aggregated struct",
      df =>
        latest(df).select(col("s.t").as("u")).select(window(col("u"), "3 seconds").as("v"))
          .select(col("v"), col("v.end").as("e"), window_time(col("v")).as("f")),
      Set()
    ),
    (
      "fields of an array, of a map and of a nested struct",
      df => {
        val found = latest(df).select(
          col("w"),
          array(col("s")).as("a"),
          map(lit(1), col("s")).as("m"),
          struct(col("s")).as("n")
        )
        found.select(col("w"), col("a")(0)("t").as("x"), col("m")(1)("t").as("y"), col("n.s.t"))
      },
      Set("w")
    ),
    ("a time plus an interval", _.select((col("t") + expr("INTERVAL '1' SECOND")).as("u")), Set())
  )

  for ((name, query, expected) <- cases)
    test(s"the optimizer does not change the event times of $name")({
      assert(same(query(stream)).keySet.filterNot(_.startsWith("length")) == expected)
    })

  test("a column that only the optimizer makes an event time is none of a join") {
    val left = spark.table("oi").withColumn("u", coalesce(col("ot"))).as("o")
    val joined = left.join(spark.table("di").as("d"), expr(near("o", "d") + " AND u >= dt"))
    def watermarked(plan: LogicalPlan) = plan.collectFirst { case j: StreamJoin =>
      j.analysis.bounds.columns.filter(_.watermarked).map(_.name)
    }.get
    val before = watermarked(joined.asInstanceOf[classic.DataFrame].queryExecution.analyzed)
    assert(before == Seq("o.ot", "d.dt"))
    assert(watermarked(optimized(joined)) == before)
  }

  test("a copy in a struct is no event time above a join that does not bound its column") {
    val left = spark.table("oi").select(
      col("k"),
      col("ot"),
      col("ot").as("u"),
      struct(col("u"), struct(col("u").as("v")).as("n")).as("s")
    )
    val joined = left.as("o").join(spark.table("di").as("d"), expr(near("o", "d")))
      .select(col("ot"), col("u"), col("s.u").as("x"), col("s.n.v"))
    assert(same(joined).keySet == Set("ot"))
  }

  test("the optimizer does not change the event times of random projections") {
    val found = for (seed <- 0 until 200) yield {
      val random = new Random(seed)
      val df = (0 until 1 + random.nextInt(5)).foldLeft(stream)((df, _) => step(df, random))
      withClue(s"seed $seed: ")(same(df)).size
    }
    // most of them keep an event time
    assert(found.count(_ > 0) > 120)
    assert(found.count(_ > 1) > 20)
  }
}

private object OptimizedTimesSuite {

  private def pick[T](of: Seq[T], random: Random): T = of(random.nextInt(of.length))

  private def isTime(t: DataType): Boolean = t == TimestampType || t == TimestampNTZType

  /** Adds a random projection, filter, union or aggregation. */
  def step(df: DataFrame, random: Random): DataFrame = random.nextInt(10) match {
    case 0 => df.where(df(quoted(pick(df.columns.toSeq, random))).isNotNull)
    case 1 => df.union(df.select(df.columns.toSeq.map(c => df(quoted(c))): _*))
    case 2 if df.columns.length > 1 =>
      val all = df.columns.toSeq.map(c => df(quoted(c)))
      distinct(df.groupBy(all: _*).agg(max(struct(all: _*)).as("m"), count(lit(1))))
    case _ =>
      val mayHaveWindow = !df.columns.exists(_.startsWith("win"))
      val times = df.schema.fields.toSeq.filter(f => isTime(f.dataType))
      val made =
        if (mayHaveWindow && times.nonEmpty && random.nextInt(2) == 0) {
          Seq(windowOf(
            df(quoted(pick(times, random).name)),
            random
          ).as(s"win${random.nextInt(99)}"))
        } else Nil
      val passed = df.schema.fields.toSeq
        .filter(_ => random.nextInt(4) > 0)
        .flatMap(f => projected(df(quoted(f.name)), f, random))
      val all = passed ++ made
      if (all.isEmpty) df else distinct(df.select(all: _*))
  }

  private def quoted(name: String): String = s"`$name`"

  private def windowOf(time: Column, random: Random): Column = random.nextInt(3) match {
    case 0 => window(time, "2 seconds")
    case 1 => window(time, "1 hour", "1 hour", "10 minutes")
    case _ => window(time, "3 seconds", "2 seconds")
  }

  private def projected(c: Column, f: StructField, random: Random): Seq[Column] =
    (f.dataType, random.nextInt(6)) match {
      case (s: StructType, 0) => Seq(c.withField("added", lit(1)).as(f.name))
      case (s: StructType, 1 | 2 | 3) =>
        s.fields.toSeq.map(i => c.getField(i.name).as(s"${f.name}_${i.name}"))
      case (_, 0)             => Seq(struct(c.as("a"), lit(1).as("one")).as(s"${f.name}_s"))
      case (_, 1)             => Seq(c.cast(f.dataType).as(f.name))
      case (IntegerType, 2)   => Seq(c.cast(LongType).as(f.name))
      case (_, 3)             => Seq(c.as(s"${f.name}_r"))
      case (TimestampType, 4) => Seq((c + expr("INTERVAL '1' SECOND")).as(s"${f.name}_m"))
      case _                  => Seq(c)
    }

  /** Renames the columns to distinct names. */
  private def distinct(df: DataFrame): DataFrame =
    df.toDF(df.columns.toSeq.zipWithIndex.map { case (c, i) => s"${c.take(12)}$i" }: _*)
}
