package org.apache.spark.sql.streamjoin.physical.consolidate

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.physical.exchange.RowHash
import org.apache.spark.sql.types.{LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.join.changelog.ChangeKind

/** Consolidation of the changes of a batch from several join keys. */
class ConsolidatedRunsSuite extends AnyFunSuite {

  private type Row = (Long, Option[String], String)

  private val (id, name, kind) = (
    AttributeReference("id", LongType)(),
    AttributeReference("name", StringType)(),
    AttributeReference("_change_type", StringType)()
  )
  private val columns = Seq(id, name, kind)

  private def text(s: String) = UTF8String.fromString(s)

  private def allChanges(rows: Seq[Row], keyed: Boolean): (Seq[Row], Long) = {
    val key = if (keyed) Seq(id) else Nil
    consolidated(rows, Consolidate(key, Seq(id, name), kind, Nil, Consolidate.All, true))
  }

  private def consolidated(rows: Seq[Row], by: Consolidate): (Seq[Row], Long) = {
    val toUnsafe = UnsafeProjection.create(columns, columns)
    val hash = new RowHash(by.together, columns)
    // one reused object for all rows, as in Spark's code
    val sorted = rows
      .map { case (i, n, k) => toUnsafe(InternalRow(i, n.map(text).orNull, text(k))).copy() }
      .sortBy(hash(_))
    val arriving = UnsafeRow.createFromByteArray(0, columns.length)
    val counters = new Counters
    val runs = new ConsolidatedRuns(
      by,
      columns,
      sorted.iterator.map { row =>
        arriving.copyFrom(row)
        arriving
      },
      counters
    )
    val out = Seq.newBuilder[Row]
    runs.output.foreach { row =>
      val n = Option.unless(row.isNullAt(1))(row.getUTF8String(1).toString)
      out += ((row.getLong(0), n, row.getUTF8String(2).toString))
    }
    (out.result(), counters.rows(Count.Suppressed))
  }

  private def bob(kind: String, id: Long = 7) = (id, Some("Bob"), kind)
  private def ann(kind: String, id: Long = 7) = (id, Some("Ann"), kind)
  private def none(kind: String, id: Long = 7) = (id, None, kind)

  for (keyed <- Seq(true, false)) {
    test(s"changes of different rows pass unchanged; by key: $keyed") {
      val all = Seq(bob("insert", 1), none("delete", 3), ann("delete", 8), none("insert", 9))
      for (rows <- all.map(Seq(_)) :+ all)
        assert(allChanges(rows, keyed)._1.toSet == rows.toSet)
      assert(allChanges(Nil, keyed) == ((Nil, 0L)))
    }

    test(s"a row that moves unchanged between join keys is not emitted; by key: $keyed") {
      for (row <- Seq(bob(_: String), none(_: String)))
        assert(allChanges(Seq(row("insert"), row("delete")), keyed) == ((Nil, 1L)))
      val other = bob("insert", 8)
      assert(
        allChanges(Seq(bob("insert"), bob("insert"), bob("delete"), other), keyed)._1.toSet ==
          Set(bob("insert"), other)
      )
    }
  }

  test("a delete and an insert of one key become an update, with the preimage first") {
    val update = Seq(bob("update_preimage"), ann("update_postimage"))
    for (rows <- Seq(Seq(ann("insert"), bob("delete")), update, update.reverse))
      assert(allChanges(rows, keyed = true) == ((update, 0L)))
    val toNull = Seq(bob("update_preimage"), none("update_postimage"))
    assert(allChanges(Seq(bob("delete"), none("insert")), keyed = true) == ((toNull, 0L)))
  }

  test("without a key, only inserts and deletes are emitted, also for updates") {
    val update = Seq(bob("update_preimage"), ann("update_postimage"))
    assert(allChanges(update, keyed = false)._1.toSet == Set(bob("delete"), ann("insert")))
    // one image of an update can cancel with a change of another join key
    assert(allChanges(update :+ bob("insert"), keyed = false)._1 == Seq(ann("insert")))
  }

  test("if a key has several rows, no change is lost") {
    val rows = Seq(bob("delete"), none("delete"), ann("insert"))
    val kept = allChanges(rows, keyed = true)._1
    assert(kept.map(r => (r._1, r._2)).toSet == rows.map(r => (r._1, r._2)).toSet)
    assert(kept.map(_._3) == Seq("delete", "update_preimage", "update_postimage"))
    // as many inserts as deletes, but one insert equals the other delete
    val crossed = Seq(bob("delete"), none("delete"), none("insert"), ann("insert"))
    assert(allChanges(crossed, keyed = true)._1 ==
      Seq(bob("update_preimage"), ann("update_postimage")))
  }

  test("random changes consolidate to their sum, in any order of arrival") {
    val random = new Random(11)
    for (round <- 1 to 300; keyed <- Seq(true, false)) {
      val rows = Seq.fill(random.nextInt(12)) {
        val kind = ChangeKind.all(random.nextInt(4)).name
        (random.nextInt(3).toLong, Seq(None, Some("Ann"), Some("Bob"))(random.nextInt(3)), kind)
      }
      val out = allChanges(rows, keyed)._1
      assert(weights(out) == weights(rows), s"$round: $rows gave $out")
      val kindsOfRow = out.groupBy(r => (r._1, r._2)).values.map(_.map(r => added(r._3)).toSet)
      assert(kindsOfRow.forall(_.size == 1), s"$round: $rows gave $out")
      val updates = out.zip(out.drop(1)).count { case (a, b) =>
        a._1 == b._1 && a._3 == "update_preimage" && b._3 == "update_postimage"
      }
      assert(updates == out.count(_._3.startsWith("update")) / 2)
      assert(keyed || updates == 0)
      assert(allChanges(random.shuffle(rows), keyed)._1 == out)
    }
  }

  private def byId(keep: Consolidate.Keep, certain: Boolean) =
    Consolidate(Seq(id), Seq(id, name), kind, Nil, keep, certain)

  private def latest(rows: Row*): Seq[Row] =
    consolidated(rows, byId(Consolidate.Latest, certain = true))._1

  test("if a key may be deleted whose row is not known, an equal row does not cancel its delete") {
    def out(keep: Consolidate.Keep)(rows: Row*) =
      consolidated(rows, byId(keep, certain = false))._1
    assert(out(Consolidate.Latest)(bob("delete"), bob("insert")) == Seq(bob("update_postimage")))
    assert(out(Consolidate.Latest)(bob("delete")) == Seq(bob("delete")))
    assert(out(Consolidate.All)(bob("delete"), bob("insert")) ==
      Seq(bob("update_preimage"), bob("update_postimage")))
    assert(out(Consolidate.All)(bob("delete"), ann("insert")) ==
      Seq(bob("update_preimage"), ann("update_postimage")))
  }

  test("the latest version of a key is its insert, otherwise its delete") {
    assert(latest(bob("delete"), ann("insert")) == Seq(ann("update_postimage")))
    assert(latest(ann("update_postimage"), bob("update_preimage")) == Seq(ann("update_postimage")))
    assert(latest(ann("update_postimage")) == Seq(ann("insert")))
    assert(latest(bob("delete")) == Seq(bob("delete")))
    assert(latest(bob("delete"), bob("insert")).isEmpty)
    assert(latest(bob("insert"), bob("delete"), ann("insert")) == Seq(ann("insert")))
  }

  test("random changes have one latest version for each key, in any order of arrival") {
    val random = new Random(12)
    for (round <- 1 to 300) {
      val rows = Seq.fill(random.nextInt(12)) {
        val kind = ChangeKind.all(random.nextInt(4)).name
        (random.nextInt(3).toLong, Seq(None, Some("Ann"), Some("Bob"))(random.nextInt(3)), kind)
      }
      val out = latest(rows: _*)
      assert(out.map(_._1).distinct == out.map(_._1))
      val all = weights(rows).groupBy(_._1._1)
      assert(out.map(_._1).toSet == all.keySet)
      for ((id, name, kind) <- out) {
        val (more, less) = all(id).partition(_._2 > 0)
        assert((if (more.nonEmpty) more else less).contains((id, name)), s"$round: $rows")
        assert(kind == (if (more.isEmpty) "delete"
                        else if (less.isEmpty) "insert" else "update_postimage"))
      }
      assert(latest(random.shuffle(rows): _*) == out)
    }
  }

  private def added(kind: String) = ChangeKind.all.exists(k => k.name == kind && k.added)

  private def weights(rows: Seq[Row]): Map[(Long, Option[String]), Int] =
    rows.groupBy(r => (r._1, r._2)).view.mapValues(_.map(r => if (added(r._3)) 1 else -1).sum)
      .filter(_._2 != 0).toMap
}
