package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._

/**
 * Nexmark's persons, auctions and bids, in the proportions and with the hot ratios of its public
 * generator: of 50 events one is a person, three are auctions, the others bids; an event is a
 * millisecond. A step is an event.
 *
 *   - `extra`: yes to add a text as long as the generator's text columns together
 *   - `whole`: yes to add the columns that only the whole queries select
 */
private[workloads] final class Auctions(p: Parameters, arrival: Arrival) extends Serializable {
  import Auctions._

  def this(p: Parameters) = this(p, Arrival.Ordered("ts", p.number("lag")))

  private val (events, seed) = (p.number("rows"), p.number("seed"))
  private val extra = p.text("extra") == "yes"
  private val whole = Auctions.isWhole(p)

  private val state = Column.number("state")(row => below(6, 9, row))

  val persons: RowStream = stream(
    "persons",
    0,
    events => events / Cycle + math.min(events % Cycle, 1),
    IndexedSeq(
      Column.number("id")(row => row),
      Column.time("ts")(row => timeOf(row * Cycle))
    ),
    IndexedSeq(
      Column.text("name")(row => 8 + below(12, 15, row)),
      Column.text("city")(row => 6 + below(8, 16, row)),
      state
    ),
    text = 200
  )

  val auctions: RowStream = {
    def time(row: Long) = timeOf(row / 3 * Cycle + 1 + row % 3)
    stream(
      "auctions",
      1,
      events => events / Cycle * 3 + math.max(0, math.min(events % Cycle - 1, 3)),
      IndexedSeq(
        Column.number("id")(row => row),
        Column.time("ts")(time),
        Column.time("expires")(row => time(row) + 1 + below(2 * Horizon, 1, row)),
        Column.number("seller")(row => person(row / 3 + 1, row)),
        Column.number("category")(row => 10 + below(Categories - 10, 2, row)),
        Column.number("slot")(row => Math.floorDiv(time(row), Slot))
      ),
      IndexedSeq(
        Column.number("initial_bid")(row => price(row, 11)),
        Column.number("reserve")(row => price(row, 11) + price(row, 13))
      ),
      text = 500
    )
  }

  val bids: RowStream = {
    def event(row: Long) = row / 46 * Cycle + 4 + row % 46
    stream(
      "bids",
      2,
      events => events / Cycle * 46 + math.max(0, events % Cycle - 4),
      IndexedSeq(
        Column.number("id")(row => row),
        Column.time("ts")(row => timeOf(event(row))),
        Column.number("auction")(row => auction(event(row) / Cycle * 3 + 3, row)),
        Column.number("price")(row => price(row, 7))
      ),
      IndexedSeq(Column.number("bidder")(row => bidder(event(row) / Cycle + 1, row))),
      text = 100
    )
  }

  /** Persons by tumbling slot, next to their own columns. */
  val slottedPersons: RowStream =
    personsWith(Column.number("slot")(row => Math.floorDiv(persons.value(row, 1), Slot)))

  /** Persons by state, of which there are six, next to their own columns. */
  val statedPersons: RowStream = if (whole) persons else personsWith(state)

  private def personsWith(column: Column): RowStream =
    new RowStream(
      persons.name,
      0,
      persons.columns :+ column,
      arrival,
      events,
      persons.arrivedBefore
    )

  private def stream(
      name: String,
      ordinal: Int,
      arrivals: Long => Long,
      columns: IndexedSeq[Column],
      others: IndexedSeq[Column],
      text: Long
  ): RowStream = {
    val filler = Column.text("extra") { row =>
      text / 2 + Hash.below(text, seed * 100 + 90 + ordinal, row)
    }
    val all = columns ++ others.filter(_ => whole) ++ Seq(filler).filter(_ => extra)
    new RowStream(name, ordinal, all, arrival, events, arrivals)
  }

  private def timeOf(event: Long): Long = RowStream.Begin + event

  private def below(bound: Long, use: Int, row: Long): Long =
    Hash.below(bound, seed * 100 + use, row)

  /** Half of the bids are on the one auction in a hundred that is hot. */
  private def auction(opened: Long, bid: Long): Long =
    if (below(2, 3, bid) > 0) (opened - 1) / 100 * 100
    else {
      val oldest = math.max(opened - 1 - InFlight, 0)
      oldest + below(opened - 1 - oldest + 1 + AuctionLead, 4, bid)
    }

  /** Three sellers of four are the one person in a hundred that is hot. */
  private def person(known: Long, auction: Long): Long =
    if (below(4, 5, auction) > 0) (known - 1) / 100 * 100
    else activePerson(known, 6, auction)

  /** Three bidders of four are the one person in a hundred next to the hot seller. */
  private def bidder(known: Long, bid: Long): Long =
    if (below(4, 10, bid) > 0) (known - 1) / 100 * 100 + 1
    else activePerson(known, 17, bid)

  private def activePerson(known: Long, use: Int, row: Long): Long = {
    val active = math.min(known, Active)
    known - active + below(active + PersonLead, use, row)
  }

  /** From 100 to 6.5 million, small ones as frequent as large ones by order of magnitude. */
  private def price(row: Long, use: Int): Long = {
    val least = 100L << below(16, use, row)
    least + below(least, use + 1, row)
  }
}

private[workloads] object Auctions {
  val Cycle = 50L

  /** A tumbling window, in milliseconds. */
  val Slot = 10000L

  private val InFlight = 100L
  private val AuctionLead = 10L
  private val Active = 1000L
  private val PersonLead = 10L

  /** Milliseconds in which as many auctions open as are in flight. */
  private val Horizon = InFlight * Cycle / 3

  /** The longest that an auction is open. */
  val Longest: Long = 2 * Horizon

  /** They are 10 until this. */
  val Categories = 15L

  /** What whole queries without a bound select of an auction `a`. */
  val Described: Seq[String] =
    Seq("initial_bid", "reserve", "ts", "expires", "seller", "category", "extra").map(c => s"a.$c")

  def isWhole(asked: Parameters): Boolean = asked.values.get("whole").contains("yes")

  /** `rows` counts events of all three inputs. */
  def defaults(asked: Parameters): Parameters =
    asked.or("rows" -> 500000, "batch" -> 50000, "lag" -> 4000, "extra" -> "no", "seed" -> 1)
}
