package io.streamjoin.state.segment

import java.util.Arrays

/**
 * The rows of a key and a range of times in several segments, found by walking the chains of all of
 * them side by side, one row of each chain in a round. Rows are rarely in the processor's caches, and
 * those of a round do not wait for one another, where those of one chain do. Segments on the disk are searched before.
 *
 * Numbers say where a row is: a reference that is set costs the garbage collector's barrier.
 */
private[segment] final class ChainWalk {
  private var key = 0L
  private var from = 0L
  private var to = 0L
  private var kind = ChainKind.OfKey

  /** The chains that go on, each with the number of its next row, plus one. */
  private var chains = 0
  private var chainSegment = new Array[Int](16)
  private var chainNext = new Array[Int](16)

  /** What the search on the disk or the last round has found, and how much of it was shown. */
  private var found = 0
  private var shown = 0
  private var foundSegment = new Array[Int](16)
  private var foundRow = new Array[Int](16)

  /** Where the row is that [[next]] has gone on to. */
  var segment: Int = 0
  var row: Int = -1

  /**
   * Begins anew, with the segments that may have such rows.
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

  /** Ends it before its end. */
  def stop(): Unit = {
    chains = 0
    found = 0
    shown = 0
  }

  def hasNext(segments: Array[Segment]): Boolean = {
    while (shown == found && chains > 0) round(segments)
    shown < found
  }

  /** Goes on to the row that [[hasNext]] has found. */
  def next(): Unit = {
    segment = foundSegment(shown)
    row = foundRow(shown)
    shown += 1
  }

  /**
   * All that depends on a row's numbers is added, not branched upon, as far as can be: a wrong guess
   * would be found out only when the row has come from memory.
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

  /** Of no number, and of [[Segment.OnDisk]], none. */
  private def oneIfAny(number: Int): Int = -number >>> 31

  /** What is written beyond the last chain counts for nothing, but needs a place. */
  private def makeRoom(count: Int): Unit = {
    val room = count * 2
    chainSegment = new Array[Int](room)
    chainNext = new Array[Int](room)
    foundSegment = new Array[Int](room)
    foundRow = new Array[Int](room)
  }
}
