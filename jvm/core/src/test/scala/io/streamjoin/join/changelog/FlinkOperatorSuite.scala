package io.streamjoin.join.changelog

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

/**
 * Flink's harness tests of its changelog joins: with Flink's batches, with one change in each
 * batch, and with all changes in one batch (with a clock: all of one time). Flink's join of many
 * inputs is a chain of joins here.
 *
 * The output changes consolidate to the same table as Flink's. If a side has no key, rows are
 * counted. Otherwise they are compared by key, since Flink's operators omit the images that an
 * update of a key replaces. In each batch, an output key has at most one deleted and one inserted
 * row, in this order, and they differ.
 */
class FlinkOperatorSuite extends AnyFunSuite {
  import FlinkOperatorSuite._
  import FlinkScript._

  for {
    (suite, cases) <- Seq(
      "StreamingJoinOperatorTest" -> FlinkOperatorCases.streaming,
      "StreamingSemiAntiJoinOperatorTest" -> FlinkOperatorCases.semiAnti,
      "StreamingMiniBatchJoinOperatorTest" -> FlinkOperatorCases.miniBatch,
      "StreamingMultiJoinOperatorTestBase" -> FlinkMultiJoinCases.all
    )
    each <- cases
  } test(s"$suite, ${each.name}") {
    val differs = new FlinkScript(each).lines.exists(l => "FOS".contains(l.head) && l(1) == '!')
    assert(each.differs.nonEmpty == differs)
    for (segments <- Seq(false, true); cut <- Cut.all)
      withClue(s"$cut, ${if (segments) "segments" else "heap"}: ") {
        run(new FlinkScript(each), cut, segments)
      }
  }

  private def run(script: FlinkScript, cut: Cut, segments: Boolean): Unit = {
    val c = script.flink
    val chain = new Chain(c, segments)
    val (expected, found) = (new Table(c), new Table(c))
    val waiting = mutable.ArrayBuffer.empty[(Int, Change[Row])]
    def batch(): Unit = if (waiting.nonEmpty) {
      val out = chain.batch(waiting.toSeq)
      waiting.clear()
      checkImages(c, out)
      out.foreach { case (row, added) => found.change(row, added) }
    }
    // within a mini-batch, of Flink or of this join, the tables cannot be compared
    def check(line: String): Unit =
      if (cut == Cut.AsFlink || cut == Cut.Each && c.mini == 1 || line == "end")
        assert(found.rows == expected.rows, line)
    for ((line, at) <- script.lines.zipWithIndex) line.take(2) match {
      case "at" =>
        batch()
        script.now = line.drop(3).toLong
        if (c.ttl.nonEmpty) chain.at(script.now)
      case kind @ ("=" | "= " | "F!" | "O!" | "S!") =>
        if (kind.head == '=' || kind == "O!" || kind == "S!" && cut == Cut.Each)
          script.output(line).foreach { case (row, added) => expected.change(row, added) }
        val next = script.lines.lift(at + 1).map(_.take(2).trim)
        if (!next.exists(Set("=", "F!", "O!", "S!"))) check(line)
      case _ =>
        waiting += script.change(line)
        if (cut == Cut.Each || cut == Cut.AsFlink && waiting.length == c.mini) batch()
    }
    if (cut != Cut.AsFlink) batch()
    assert(waiting.isEmpty)
    check("end")
    assert(chain.unknown == 0)
  }

  private def checkImages(c: FlinkCase, out: Seq[(Joined, Boolean)]): Unit =
    if (counted(c)) {
      val (came, went) = out.partition(_._2)
      assert((came.map(_._1).toSet & went.map(_._1).toSet).isEmpty)
    } else
      out.groupBy(o => keyOf(c, o._1)).foreach { case (key, images) =>
        assert(images.count(_._2) <= 1 && images.count(!_._2) <= 1, key)
        assert(images.map(_._2) == images.map(_._2).sorted, key)
        assert(images.map(_._1).distinct == images.map(_._1), key)
      }
}

private object FlinkOperatorSuite {

  sealed trait Cut
  object Cut {
    case object AsFlink extends Cut
    case object Each extends Cut
    case object All extends Cut
    val all: Seq[Cut] = Seq(AsFlink, Each, All)
  }
}
