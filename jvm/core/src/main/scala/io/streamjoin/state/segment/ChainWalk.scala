package io.streamjoin.state.segment

import java.util.Arrays

import io.streamjoin.state.segment.index.ChainIndex
import io.streamjoin.state.segment.pages.{ChainKind, SlotPages}

/**
 * Walk over the rows of a key and a range of times in several segments. It follows the chains
 * of all segments side by side, one row of each chain in a round. Rows are rarely in the
 * processor's caches. The rows of a round do not depend on one another, so their cache misses
 * overlap. Segments on the disk are searched before the first round.
 *
 * Positions are numbers: setting a reference costs the garbage collector's barrier.
 */
private[segment] final class ChainWalk {
  private var key = 0L
  private var from = 0L
  private var to = 0L
  private var kind = ChainKind.OfKey

  /** The chains that are not at their end, each with the number of its next row, plus one. */
  private var chains = 0
  private var chainSegment = new Array[Int](16)
  private var chainNext = new Array[Int](16)

  /**
   * The rows that the search on the disk or the last round has found, and how many were
   * returned.
   */
  private var found = 0
  private var shown = 0
  private var foundSegment = new Array[Int](16)
  private var foundRow = new Array[Int](16)

  /** The row that [[next]] has moved to. */
  var segment: Int = 0
  var row: Int = -1

  /**
   * Starts a walk over the segments that may have such rows.
   *
   * @param timeIndex whether they have an index by key and time
   */
  def start(
      key: Long,
      from: Long,
      to: Long,
      segments: Array[Segment],
      count: Int,
      times: TimeRanges,
      timeIndex: Boolean = false
  ): Unit = {
    this.key = key
    this.from = from
    this.to = to
    stop()
    if (from <= to) {
      if (count >= chainNext.length) makeRoom(count)
      val oneTime = timeIndex && from == to
      kind = if (oneTime) ChainKind.OfTime else ChainKind.OfKey
      val hash = SlotPages.hash(if (oneTime) ChainIndex.keyAndTime(key, from) else key)
      var s = times.first(from)
      var goOn = 0
      while (times.goesOn(s, to)) {
        if (segments(s).mayContain(from, to)) {
          val newest = if (oneTime) segments(s).timeChain(hash) else segments(s).chain(hash)
          if (newest == Segment.OnDisk) search(segments(s), s, hash)
          chainSegment(goOn) = s
          chainNext(goOn) = newest
          goOn += oneIfAny(newest)
        }
        s += 1
      }
      chains = goOn
    }
  }

  private def search(segment: Segment, s: Int, hash: Int): Unit =
    segment.search(
      key,
      hash,
      from,
      to,
      i => {
        if (found == foundRow.length) {
          foundSegment = Arrays.copyOf(foundSegment, found * 2)
          foundRow = Arrays.copyOf(foundRow, found * 2)
        }
        foundSegment(found) = s
        foundRow(found) = i
        found += 1
      }
    )

  /** Stops the walk before its end. */
  def stop(): Unit = {
    chains = 0
    found = 0
    shown = 0
  }

  def hasNext(segments: Array[Segment]): Boolean = {
    while (shown == found && chains > 0) round(segments)
    shown < found
  }

  /** Moves to the row that [[hasNext]] has found. */
  def next(): Unit = {
    segment = foundSegment(shown)
    row = foundRow(shown)
    shown += 1
  }

  /**
   * Numbers of a row are added, not branched upon: the processor would find out a wrong branch
   * only when the row has arrived from memory.
   */
  private def round(segments: Array[Segment]): Unit = {
    val kind = this.kind
    var c = 0
    var goOn = 0
    var hits = 0
    while (c < chains) {
      val s = chainSegment(c)
      val i = chainNext(c) - 1
      val segment = segments(s)
      foundSegment(hits) = s
      foundRow(hits) = i
      val older = segment.older(i, kind)
      if (segment.isHit(i, key, from, to)) hits += 1
      chainSegment(goOn) = s
      chainNext(goOn) = older
      goOn += oneIfAny(older)
      c += 1
    }
    chains = goOn
    found = hits
    shown = 0
  }

  /** 0 for no row and for [[Segment.OnDisk]], else 1. */
  private def oneIfAny(number: Int): Int = -number >>> 31

  /** Entries behind the last chain are ignored, but need room. */
  private def makeRoom(count: Int): Unit = {
    val room = count * 2
    chainSegment = new Array[Int](room)
    chainNext = new Array[Int](room)
    foundSegment = new Array[Int](room)
    foundRow = new Array[Int](room)
  }
}
