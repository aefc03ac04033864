package io.streamjoin.benchmarks.workloads

import java.util.concurrent.ConcurrentHashMap

import io.streamjoin.benchmarks._

/**
 * Rows with a unique key: first each is inserted, then they are updated, one after another at random. An
 * update is two rows of the input, the image before it and the image behind it.
 *
 * A key is known from the number of the change alone; which change it replaces is looked up in a table
 * that every process makes once.
 *
 * @param keys a multiple of [[Arrival.Lanes]]
 * @param changes inserts and updates
 * @param zipf whether the n-th key is updated n times less often than the first; else all alike
 */
private[workloads] final class Changes(val keys: Long, changes: Long, zipf: Boolean, seed: Long)
    extends Serializable {
  import Changes._

  /** Made before anything is measured. */
  private val known = Shape(keys, changes, zipf, seed)
  @transient private lazy val before = tables(known)
  before: Unit

  def key(change: Long): Long = known.key(change)

  /** The change whose image an update replaces. */
  def replaced(change: Long): Long = before((change - keys).toInt).toLong

  /** Rows of the input before a change. */
  def rowsBefore(change: Long): Long =
    if (change <= keys) math.max(change, 0) else keys + 2 * (math.min(change, changes) - keys)

  private def of(row: Long): Long = if (row < keys) row else keys + (row - keys) / 2

  private def goes(row: Long): Boolean = row >= keys && (row - keys) % 2 == 0

  /** The change that contains this image of the row. */
  def image(row: Long): Long = if (goes(row)) replaced(of(row)) else of(row)

  /**
   * @param arrivals how many changes have arrived before a step
   * @param id the output column of a key
   * @param keyed whether the engines know the key
   * @param valid the column from whose time on an image is valid, with the lag of its watermark; none: it is
   *   so when it arrives
   * @param columns by key and change
   */
  def stream(
      name: String,
      ordinal: Int,
      steps: Long,
      arrivals: Long => Long = step => step,
      id: Long => Long = key => key,
      keyed: Boolean = true,
      valid: Option[(Column, Long)] = None
  )(columns: (String, (Long, Long) => Long)*): RowStream =
    new RowStream(
      name,
      ordinal,
      IndexedSeq(Column.number("id")(row => id(key(of(row))))) ++
        columns.map { case (name, value) =>
          Column.number(name)(row => value(key(of(row)), image(row)))
        } ++
        valid.map { case (time, _) => time.copy(value = row => time.value(of(row))) } ++
        IndexedSeq(
          Column.number("seq")(of),
          Column.change { row =>
            if (row < keys) Kind.Change.insert
            else if (goes(row)) Kind.Change.preimage
            else Kind.Change.postimage
          }
        ),
      valid.fold[Arrival](Arrival.Changing(Option.when(keyed)("id"))) { case (time, lag) =>
        Arrival.Versioned("id", time.name, lag)
      },
      steps,
      step => rowsBefore(arrivals(step))
    )

  /** The last change of each key. */
  def last: Array[Int] = {
    val found = Array.fill(keys.toInt)(-1)
    for (change <- 0L until changes) found(key(change).toInt) = change.toInt
    found
  }
}

private[workloads] object Changes {

  /** As many keys as can be dealt out evenly. */
  def keys(wanted: Long): Long = math.max(wanted / Arrival.Lanes, 1) * Arrival.Lanes

  private final case class Shape(keys: Long, changes: Long, zipf: Boolean, seed: Long) {

    def key(change: Long): Long =
      if (change < keys) change
      else rank(change, keys / Arrival.Lanes) * Arrival.Lanes + change % Arrival.Lanes

    private def rank(change: Long, ranks: Long): Long =
      if (!zipf) Hash.below(ranks, seed, change)
      else {
        val uniform = Hash.below(1L << 52, seed, change).toDouble / (1L << 52)
        math.min(StrictMath.exp(uniform * StrictMath.log(ranks + 1.0)).toLong - 1, ranks - 1)
      }
  }

  private val known = new ConcurrentHashMap[Shape, Array[Int]]

  private def tables(shape: Shape): Array[Int] = {
    // those of a run's warm-up are of no use any more
    if (known.size > 8) known.clear()
    known.computeIfAbsent(
      shape,
      _ => {
        val last = Array.range(0, shape.keys.toInt)
        Array.tabulate(math.max(shape.changes - shape.keys, 0).toInt) { i =>
          val change = shape.keys + i
          val key = shape.key(change).toInt
          val replaced = last(key)
          last(key) = change.toInt
          replaced
        }
      }
    )
  }
}
