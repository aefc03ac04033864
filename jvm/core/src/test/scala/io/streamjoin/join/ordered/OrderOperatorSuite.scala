package io.streamjoin.join.ordered

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.Watermarks
import io.streamjoin.state.JoinState
import io.streamjoin.testing.HeapJoinState

/** Streams of rows with a time and a number, in batches. */
class OrderOperatorSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private type Row = (Option[Long], Int)

  private object Rows extends OrderedRows[Row] {
    override def isTimeless(row: Row): Boolean = row._1.isEmpty
    override def time(row: Row): Long = row._1.get
  }

  /** One partition, run batch by batch as the tasks of a query do. */
  private class Partition(tied: Boolean) {
    val state: JoinState[Row] = new HeapJoinState[Row](identity)
    var counters = new Counters
    private var limit = Watermarks.Unknown

    /** The output of a batch, before the output of all partitions is sorted. */
    def batch(rows: Seq[Row], watermark: Long): Seq[Row] = {
      val operator = new OrderOperator[Row](Rows, tied, state, counters)
      operator.begin(limit, watermark)
      val out = rows.filter(operator.passes) ++ operator.release().toList
      limit = operator.limit
      out
    }
  }

  private def sorted(rows: Seq[Row]): Seq[Row] = rows.sortBy { case (t, k) =>
    (t.nonEmpty, t.getOrElse(0L), k)
  }

  private def row(time: Long, k: Int = 0): Row = (Some(time), k)

  test("a row is emitted in the batch whose watermark reaches its time") {
    val one = new Partition(tied = false)
    assert(one.batch(Seq(row(5), row(3), row(9)), 4) == Seq(row(3)))
    assert(one.batch(Nil, 4).isEmpty)
    assert(sorted(one.batch(Seq(row(7)), 7)) == Seq(row(5), row(7)))
    assert(one.state.size(OrderOperator.BufferSide) == 1)
  }

  test("with further sort keys, a row is emitted when the watermark exceeds its time") {
    val one = new Partition(tied = true)
    assert(one.batch(Seq(row(5, 2), row(4, 1)), 5) == Seq(row(4, 1)))
    assert(sorted(one.batch(Seq(row(5, 1)), 6)) == Seq(row(5, 1), row(5, 2)))
  }

  test("rows below the limit are dropped and counted as late, rows at the limit are not") {
    val one = new Partition(tied = false)
    one.batch(Seq(row(10)), 10)
    assert(one.batch(Seq(row(9), row(10, 1)), 10) == Seq(row(10, 1)))
    assert(one.counters.rows(Count.Late) == 1)
  }

  test("rows without a time are emitted at once, also before the first watermark") {
    val one = new Partition(tied = false)
    assert(one.batch(Seq((None, 1), row(3)), Watermarks.Unknown) == Seq((None, 1)))
    assert(one.counters.rows(Count.NullTime) == 1)
  }

  test("a lower watermark has no effect") {
    val one = new Partition(tied = false)
    one.batch(Seq(row(10)), 10)
    assert(one.batch(Seq(row(11)), 5).isEmpty)
    assert(one.batch(Seq(row(9)), 5).isEmpty)
    assert(one.counters.rows(Count.Late) == 1)
  }

  private val batches = Gen.listOfN(12, Gen.listOf(Gen.zip(Gen.choose(-8L, 8L), Gen.choose(0, 3))))

  test(
    "all partitions emit each due row in its batch, in ascending order over all batches"
  ) {
    forAll(batches, Gen.oneOf(true, false), Gen.choose(1, 4)) { (disorder, tied, partitions) =>
      val all = Seq.fill(partitions)(new Partition(tied))
      var (largest, before) = (Watermarks.Unknown, Watermarks.Unknown)
      var came, out = Seq.empty[Row]
      for ((moved, i) <- disorder.zipWithIndex) {
        val rows = moved.zipWithIndex.map { case ((by, k), j) =>
          row(i * 5 + by, (k * 100 + i) * 1000 + j)
        }
        largest = (largest +: rows.map(_._1.get)).max
        val watermark = if (largest == Watermarks.Unknown) largest else largest - 6
        val inTime = rows.filter(_._1.get >= before)
        val spread = rows.groupBy(r => (r._2 % partitions).abs)
        val emitted = all.indices.flatMap(p => all(p).batch(spread.getOrElse(p, Nil), watermark))
        out ++= sorted(emitted)
        came ++= inTime
        val due = came.filter { case (t, _) =>
          watermark != Watermarks.Unknown && (t.get < watermark || !tied && t.get == watermark)
        }
        assert(out.toSet == due.toSet, s"in batch $i")
        before = watermark
      }
      if (tied) assert(out == sorted(out))
      else assert(out.map(_._1) == out.map(_._1).sorted)
      assert(out.distinct.length == out.length)
    }
  }
}
