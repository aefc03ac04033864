package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.concurrent.ConcurrentHashMap

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreId}
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.checkpoint.{OnFailure, StateShape, UnsafeRowCodec}
import org.apache.spark.sql.streamjoin.spark.StoreReports
import org.apache.spark.util.Utils

import io.streamjoin.state.segment.SegmentJoinState
import io.streamjoin.state.segment.history.History
import io.streamjoin.state.segment.pages.Spilling

/**
 * The state of one partition between batches: the rows in memory at the last version, and the files
 * from which they can be read again.
 *
 * {{{
 *   version   1       2       3       4       5
 *   files     change  change  whole   change  change      a change needs the file before it
 *                             (1..3)                       maintenance merges, by [[MergeRule]]
 * }}}
 *
 * A store takes the rows, and returns them after a commit or an abort. The rows
 * serve their own version and, by a rollback, the one before it. If the rows are taken or have
 * another version, the store reads separate rows from the files. Two tasks never share rows or a
 * spill file.
 *
 * Source: the division of work in Spark's own providers (changes on commit, snapshots in
 * maintenance).
 */
private[segment] final class StoredPartition(
    val storeId: StateStoreId,
    conf: StateStoreConf,
    hadoop: Configuration,
    spilling: Spilling
) extends Logging {

  private val files =
    new StateFiles(storeId.storeCheckpointLocation(), hadoop, conf.compressionCodec)
  files.create()
  private val versions = new StoredVersions(files)
  private val reports = new StoreReports(conf, storeId, hadoop)
  private val rule = new MergeRule(conf.minDeltasForSnapshot)

  /** The rows, unless a task has taken them. */
  private var resident: Option[Resident] = None

  /** The newest version that was committed or read here. */
  private var newest: Option[Version] = None

  /** The generation of the files that are written here, see [[StateFile]]. */
  @volatile private var generation = 0L

  /** Files written by maintenance that a task may not have seen, the newest first. */
  private var merged = List.empty[StateFile]
  private var closed = false
  @volatile private var warned = false

  def close(): Unit = synchronized {
    closed = true
    ResidentState.forget(storeId, this)
    letGo()
    files.close()
  }

  /** Drops the rows in memory. They can be read again from the files. */
  def letGo(): Unit = synchronized {
    resident.foreach(_.rows.close())
    resident = None
  }

  // ---- rows ----

  /** Takes the rows of a version. No other task has them until [[give]]. */
  def take(number: Long, id: Option[String], shape: StateShape): Resident = {
    begin()
    val held = synchronized {
      val found = resident
      resident = None
      found
    }
    val taken = held.flatMap(bringTo(number, id, _)).getOrElse(load(number, id, shape))
    warnOfMemory()
    taken
  }

  private def begin(): Unit = {
    ResidentState.take(storeId, this)
    if (synchronized(closed)) ResidentState.forget(storeId, this)
  }

  private def warnOfMemory(): Unit = {
    val fixed = spilling.pool.fixed
    if (fixed > spilling.limit && !warned) {
      warned = true
      logWarning(
        "The indexes of all rows in stream-to-stream joins of this executor take " +
          s"${Utils.bytesToString(fixed)}, more than ${StreamJoinConf.SegmentMemory.key} = " +
          s"${Utils.bytesToString(spilling.limit)}. They cannot be spilled to the local disk: " +
          "they index rows in small groups that batches read, or spilled rows. Beyond " +
          s"${Utils.bytesToString(spilling.most)} the query fails with " +
          "STREAM_JOIN.STATE_MEMORY_EXCEEDED. To prevent this, use more memory, more executors " +
          "or stateFormat 'rocksdb', with the same checkpoint, or narrower time bounds with a new one"
      )
    }
  }

  private def bringTo(number: Long, id: Option[String], held: Resident): Option[Resident] =
    OnFailure(held.rows.close()) {
      val found = held.at(number, id)
      // Spark will not request the rows at the other version again
      if (found.isEmpty) held.rows.close() else held.rows.shrink()
      found
    }

  /** Returns taken rows. */
  def give(rows: Resident): Unit = synchronized {
    val stale = newest.exists(_.number > rows.version.number)
    if (closed || stale || rows.rows.broken || !ResidentState.areOf(storeId, this))
      rows.rows.close()
    else {
      rows.rows.report()
      resident.foreach(_.rows.close())
      // oldest first: files that were merged since the rows were taken
      merged.reverseIterator.foreach(rows.mergedTo)
      resident = Some(rows)
      newest = Some(rows.version)
    }
  }

  /** Writes the next version of taken rows. */
  def commit(taken: Resident, numbers: Map[String, Long]): Resident = {
    val before = taken.version
    val file = StateFile.change(before.number + 1, StateFile.newId(generation))
    files.write(file, before.newestFile) { out =>
      StoredMap.write(numbers, out)
      taken.rows.writeChange(out)
    }
    reports.committed(file.version)
    taken.committed(before.next(file, numbers))
  }

  /** A version without rows. */
  def empty(number: Long, shape: StateShape): Resident = {
    begin()
    generation = versions.nextGeneration()
    new Resident(rowsOf(shape), Version(number, Nil, Map.empty), None)
  }

  /** Whether Spark records the ID of each version's file. */
  def reportsIds: Boolean = conf.enableStateStoreCheckpointIds

  private def rowsOf(shape: StateShape) =
    new SegmentJoinState[UnsafeRow](
      shape.limits,
      shape.span,
      side => new UnsafeRowCodec(shape.schema(side).length),
      spilling,
      shape.timeIndex,
      shape.watched
    )

  private def load(number: Long, id: Option[String], shape: StateShape): Resident =
    if (number == 0) empty(0, shape)
    else {
      generation = versions.nextGeneration()
      val result = versions.readAgainIfMissing(loadOnce(number, id, shape))
      logInfo(s"Read version $number of $storeId from ${result.version.files.length} files")
      synchronized(if (newest.forall(_.number <= number)) newest = Some(result.version))
      result
    }

  private def loadOnce(number: Long, id: Option[String], shape: StateShape): Resident = {
    val rows = rowsOf(shape)
    var chain = List.empty[StateFile]
    var numbers = Map.empty[String, Long]
    OnFailure(rows.close()) {
      rows.restore { version =>
        chain = versions.read(versions.find(number, id)) { (found, in) =>
          if (numbers.isEmpty) numbers = found
          version(in)
        }
      }
    }
    new Resident(rows, Version(number, chain, numbers), None)
  }

  // ---- maintenance ----

  /**
   * Merges files and deletes those that no retained version needs.
   *
   * It does nothing in these cases:
   *
   *  - The checkpoint no longer exists. Spark deletes the temporary checkpoint of a query that has
   *    ended, perhaps while this method runs.
   *  - A task elsewhere has written a later version, see [[isOvertaken]].
   */
  def maintain(): Unit =
    for (version <- synchronized(newest) if isStored(version))
      try if (!isOvertaken(version)) {
          mergeAll(version)
          report(version.number)
          versions.keep(version.number - conf.minVersionsToRetain, version.newestFile)
        }
      catch {
        case NonFatal(e) if !isStored(version) =>
          logDebug(s"The checkpoint of $storeId was deleted during maintenance", e)
      }

  /**
   * Reports a version to Spark as a snapshot. Spark warns of stores that have not reported one for
   * long ("Snapshot Lag Detected"), since a restart would replay all changes. With [[MergeRule]], a
   * restart reads a few files of each length, however old the last whole is.
   *
   * A failed report does not fail the maintenance.
   */
  private def report(version: Long): Unit =
    try reports.snapshot(version)
    catch {
      case NonFatal(e) => logDebug(s"Cannot report version $version of $storeId to Spark", e)
    }

  /**
   * Looks for the newest file, not the folder: an interrupted write may have created the folder
   * again.
   */
  private def isStored(version: Version): Boolean = version.newestFile.forall(files.exists)

  /**
   * Whether a provider of another executor or run has a later version, and maintains the files.
   *
   * This check avoids useless work, and errors in the log about files that the other provider has
   * deleted. Correctness does not depend on it: a task elsewhere may write the later version right
   * after the check ([[MergeRule]]).
   */
  private def isOvertaken(version: Version): Boolean =
    files.list().exists(_.version > version.number)

  @tailrec
  private def mergeAll(version: Version): Unit = {
    lazy val size = files.sizes()
    val some = rule.next(version.files, size.getOrElse(_, 0L))
    if (some.length > 1) mergeAll(merge(version, some))
  }

  /** Merges consecutive files into one. Reads only the files, not the rows in memory. */
  private def merge(version: Version, some: List[StateFile]): Version = {
    val before = version.files.dropWhile(_ != some.last).drop(1).headOption
    val one = some.head.copy(from = if (before.isEmpty) 0 else some.last.from)
    files.write(one, before) { out =>
      History.merge(out, whole = before.isEmpty) { read =>
        for (file <- some) versions.readOne(file) { (numbers, in) =>
          // the numbers of the newest file
          if (file == some.head) StoredMap.write(numbers, out)
          read(in)
        }
      }
    }
    synchronized {
      merged = one :: merged.filter(_.version >= version.number - conf.minVersionsToRetain)
      resident.foreach(_.mergedTo(one))
      newest = newest.map(_.mergedTo(one))
    }
    logInfo(s"Merged ${some.length} files of $storeId to ${one.name}")
    version.mergedTo(one)
  }
}

/**
 * Registry of the partitions whose rows are in the memory of this process.
 *
 * A partition object belongs to one run of a query. On a restart, Spark closes those of the previous
 * run only after their maintenance. The next run reads its state meanwhile. Without this registry,
 * the rows would be in memory twice.
 */
private object ResidentState {

  private val holders = new ConcurrentHashMap[StateStoreId, StoredPartition]

  /** Makes an object the only owner of the rows: the previous one drops its rows. */
  def take(id: StateStoreId, holder: StoredPartition): Unit = {
    val before = holders.put(id, holder)
    if (before != null && (before ne holder)) before.letGo()
  }

  def areOf(id: StateStoreId, holder: StoredPartition): Boolean = holders.get(id) eq holder

  def forget(id: StateStoreId, holder: StoredPartition): Unit = {
    holders.remove(id, holder): Unit
  }
}
