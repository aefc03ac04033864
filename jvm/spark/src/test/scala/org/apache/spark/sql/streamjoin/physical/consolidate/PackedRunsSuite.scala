package org.apache.spark.sql.streamjoin.physical.consolidate

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.physical.exchange.RowHash
import org.apache.spark.sql.types.{BooleanType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.join.changelog.ChangelogCounters

/** Consolidation of a batch in which a row can contain both images of an update. */
class PackedRunsSuite extends AnalysisSession {
  import PackedRunsSuite._

  private def consolidated(rows: Row*): Seq[Change] =
    session.sparkContext.parallelize(
      rows,
      1
    ).mapPartitions(PackedRunsSuite.consolidated(_)).collect()
      .toSeq

  private def inserted(id: Long, name: Option[String]) = Row(id, name, added = true, None)
  private def deleted(id: Long, name: Option[String]) = Row(id, name, added = false, None)
  private def update(id: Long, before: Option[String], after: Option[String]) =
    Row(id, after, added = true, Some(before))

  private val (ann, bob) = (Option("Ann"), Option("Bob"))

  private def changed(id: Long, before: Option[String], after: Option[String]) =
    Seq((id, before, "update_preimage"), (id, after, "update_postimage"))

  test("updates, inserts and deletes of different keys pass unchanged") {
    val all =
      consolidated(inserted(1, ann), update(7, bob, None), deleted(3, None), update(2, None, ann))
    assert(all.groupBy(_._1) == Map(
      1L -> consolidated(inserted(1, ann)),
      2L -> changed(2, None, ann),
      3L -> consolidated(deleted(3, None)),
      7L -> changed(7, bob, None)
    ))
    assert(consolidated(inserted(1, ann)) == Seq((1L, ann, "insert")))
    assert(consolidated(deleted(1, None)) == Seq((1L, None, "delete")))
    assert(consolidated() == Nil)
  }

  test("a delete and an insert of one key become an update, or nothing if they are equal") {
    for (
      rows <- Seq(Seq(inserted(7, ann), deleted(7, bob)), Seq(deleted(7, bob), inserted(7, ann)))
    )
      assert(consolidated(rows: _*) == changed(7, bob, ann))
    for (name <- Seq(ann, None)) assert(consolidated(inserted(7, name), deleted(7, name)) == Nil)
  }

  test("an update with equal output images is not emitted") {
    assert(consolidated(update(7, bob, bob), inserted(8, ann), update(9, None, None)) ==
      Seq((8L, ann, "insert")))
  }

  test("random changes emit exactly the difference of the tables, in any order") {
    val random = new Random(5)
    def name() = Seq(None, ann, bob)(random.nextInt(3))
    for (round <- 1 to 50) {
      // in each batch, a key has at most one old and one new row, in one packed row or in two
      val tables = (0L until 20L).map(id =>
        (id, Option.when(random.nextBoolean())(name()), Option.when(random.nextBoolean())(name()))
      )
      val rows = tables.flatMap {
        case (id, Some(before), Some(after)) if random.nextBoolean() =>
          Seq(update(id, before, after))
        case (id, before, after) => before.map(deleted(id, _)).toSeq ++ after.map(inserted(id, _))
      }
      val out = consolidated(random.shuffle(rows): _*).groupBy(_._1)
      for ((id, before, after) <- tables) {
        val expected = (before, after) match {
          case (Some(b), Some(a)) => if (a == b) Nil else changed(id, b, a)
          case (None, Some(a))    => Seq((id, a, "insert"))
          case (Some(b), None)    => Seq((id, b, "delete"))
          case _                  => Nil
        }
        assert(out.getOrElse(id, Nil) == expected, s"$round")
      }
    }
  }
}

private object PackedRunsSuite {

  /** @param before the name in the old image, if the row contains one */
  final case class Row(
      id: Long,
      name: Option[String],
      added: Boolean,
      before: Option[Option[String]]
  )

  /** Key, name and kind of an output row. */
  type Change = (Long, Option[String], String)

  private def text(name: Option[String]) = name.map(UTF8String.fromString).orNull

  def consolidated(rows: Iterator[Row]): Iterator[Change] = {
    val (id, name, kind, added) = (
      AttributeReference("id", LongType)(),
      AttributeReference("name", StringType)(),
      AttributeReference("_change_type", StringType)(),
      AttributeReference("_added", BooleanType)()
    )
    val packed = PackedUpdate(added, Seq(name))
    val arriving = Seq(id, name, added) ++ packed.more
    val toUnsafe = UnsafeProjection.create(arriving, arriving)
    val hash = RowHash.of(Seq(id), Seq(id))
    def hashOf(row: Row) = hash(UnsafeProjection.create(Seq(id), Seq(id))(InternalRow(row.id)))
    val sorted = rows.toSeq.sortBy(hashOf).iterator
    // one reused object for all rows, as in Spark's code
    val unsafe: Iterator[UnsafeRow] = sorted.map { row =>
      toUnsafe(
        InternalRow(
          row.id,
          text(row.name),
          row.added,
          row.before.nonEmpty,
          text(row.before.flatten)
        )
      )
    }
    val by = Consolidate(Seq(id), Seq(id, name), kind, Nil, Consolidate.All)
    new ConsolidatedRuns(by, Some(packed), arriving, unsafe, new ChangelogCounters).output
      .map { row =>
        val named = Option.unless(row.isNullAt(1))(row.getUTF8String(1).toString)
        (row.getLong(0), named, row.getUTF8String(2).toString)
      }
  }
}
