package org.apache.spark.sql.streamjoin.checkpoint.simulation

import java.util.UUID

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProvider,
  StateStoreProviderId
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.{StateFormat, StoredNumbers}
import org.apache.spark.sql.streamjoin.spark.StoreReports

/** A property that a history violates. */
private[simulation] final case class Violation(what: String) extends Exception(what)

/**
 * What a history begins with.
 *
 * @param seed decides the operators, their input, and the order of rows
 * @param ids whether the commit log has the IDs of state files
 * @param retained the number of versions that maintenance retains
 * @param deltas the number of changes from which maintenance merges
 * @param memory bytes of rows in memory; none: no limit
 * @param atomic whether a task or maintenance never pauses. It may fail at any file operation
 * @param killedAtEnd whether all processes are killed before the last batches
 */
private[simulation] final case class Setup(
    seed: Long,
    ids: Boolean,
    retained: Int,
    deltas: Int,
    memory: Option[Int],
    atomic: Boolean,
    killedAtEnd: Boolean
)

/**
 * One history: a query, its executors and the files of its state.
 *
 * The state stores are those of the product. The query is modelled: its logs and its sink are
 * variables here. A batch whose offsets are written consists of the same rows when it runs again.
 */
private[simulation] final class Simulation(
    setup: Setup,
    format: StateFormat,
    mutation: Mutation = Mutation.Nothing
) {
  import Simulation._

  private val random = new Random(setup.seed)
  private val disk = new SimulatedDisk(mutation)
  private val conf = settings(format, setup, mutation)
  private val told = mutable.ArrayBuffer.empty[String]
  disk.told = what => tell(s"  $what")

  private val eventTime = new EventTimeOperator(random, 1 + random.nextInt(2))
  private val operators: IndexedSeq[Operator] = random.nextInt(7) match {
    case 0 => Vector(eventTime)
    case 1 => Vector(new ChangelogOperator(random, 1 + random.nextInt(2), eventTime.length))
    case 2 => Vector(new AsOfOperator(random, 1 + random.nextInt(2), eventTime.length))
    case 3 => Vector(new OrderedOperator(random, 1 + random.nextInt(2), eventTime.length))
    case 4 => Vector(new AsOfOperator(random, 1, eventTime.length), eventTime)
    case 5 => Vector(eventTime, new OrderedOperator(random, 1, eventTime.length))
    case _ => Vector(eventTime, new ChangelogOperator(random, 1, eventTime.length))
  }
  private val units = eventTime.length
  private val places = for {
    (operator, i) <- operators.zipWithIndex
    partition <- 0 until operator.partitions
  } yield Place(i, partition)

  // the logs and the sink
  private var offsets = Vector.empty[Int]
  private var commits = 0

  /** The IDs of state files, by batch. */
  private var ids = Vector.empty[Map[Place, String]]
  private val sink = mutable.ArrayBuffer.empty[(Int, Map[Place, Seq[Any]])]

  // the query
  private var run = UUID.randomUUID
  private var runs = 1
  private var ended = Map.empty[Place, Ended]
  private var emitted = false

  // the executors
  private val executors = mutable.ArrayBuffer.fill(Executors)(new Executor)
  private val actors = mutable.LinkedHashMap.empty[Int, Work]
  private var lastId = 0

  private final class Executor {
    val process: SimulatedProcess = new SimulatedProcess(disk)
    val providers: mutable.LinkedHashMap[(UUID, Place), StateStoreProvider] =
      mutable.LinkedHashMap.empty

    def provider(place: Place, of: UUID): StateStoreProvider =
      providers.getOrElseUpdate((of, place), begun(place, process, of))

    def close(): Unit = {
      providers.values.foreach(_.close())
      process.forget()
    }
  }

  private def begun(place: Place, process: SimulatedProcess, run: UUID): StateStoreProvider =
    StateStoreProvider.createAndInit(
      StateStoreProviderId(
        StateStoreId(process.root, place.operator.toLong, place.partition),
        run
      ),
      StoredNumbers.key,
      StoredNumbers.value,
      StoredNumbers.encoder,
      useColumnFamilies = true,
      conf,
      SimulatedFiles.conf,
      useMultipleValuesPerKey = false,
      None
    )

  /** The ID of a version's file, if the commit log has it. */
  private def idOf(place: Place, version: Int): Option[String] =
    if (setup.ids && version > 0) ids(version - 1).get(place) else None

  private def isCurrent(work: Work): Boolean = work.of.contains((run, commits)) && isPlanned

  private def tell(what: String): Unit = {
    told += what
    ()
  }

  private def isPlanned: Boolean = offsets.length > commits

  private def start(batch: Int): Int = if (batch == 0) 0 else offsets(batch - 1)

  // ---- moves ----

  /** Performs a move, if it is possible. */
  def apply(move: Move): Unit = move match {
    case Move.Plan(count) if !isPlanned && start(commits) < units =>
      offsets :+= math.min(units, start(commits) + count)
      tell(s"offsets of batch $commits: " + operators.indices.map { i =>
        s"operator $i: ${operators(i).shown(start(commits) until offsets.last)}"
      }.mkString("; "))
    case Move.Launch(id, place, executor) if isPlanned && places.contains(place) =>
      launch(id, place, executor)
    case Move.Maintain(id, place, executor) => maintain(id, place, executor)
    case Move.Go(id, operations, and)       => actors.get(id).foreach(go(_, operations, and))
    case Move.Emit if mayEmit               => emit()
    case Move.Commit if emitted             => commit()
    case Move.Restart                       => restart()
    case Move.Kill(executor)                => kill(executor)
    case Move.Unload(place, executor)       => unload(place, executor)
    case _                                  =>
  }

  private def launch(id: Int, place: Place, executor: Int): Unit = {
    val (batch, asked) = (commits, idOf(place, commits))
    val range = start(batch) until offsets(batch)
    val here = executors(executor)
    val (launched, order) = (run, new Random(setup.seed + id))
    lazy val actor: Actor = new Actor(s"task $id", here.process)({
      val provider = here.provider(place, launched)
      val store = provider.getStore(batch.toLong, asked)
      val output =
        try batchOf(place, range, store, order)
        finally if (!store.hasCommitted) store.abort()
      if ((launched, batch) == ((run, commits)) && isPlanned) {
        val file = store.getStateStoreCheckpointInfo().stateStoreCkptId
        if (!ended.contains(place)) ended += place -> Ended(output, file)
      }
      checkOutput(place, batch, output)
    })
    tell(s"task $id starts: batch $batch, $place, executor $executor")
    actors(id) = Work(actor, place, executor, Some((run, batch)), None)
    lastId = math.max(lastId, id)
  }

  private def batchOf(place: Place, range: Range, store: StateStore, order: Random): Seq[Any] = {
    val operator = operators(place.operator)
    val state = format.open(store, operator.shape)
    val numbers = new StoredNumbers(store)
    val output = operator.run(place.partition, range, state.rows, numbers, order)
    state.flush()
    store.commit()
    output
  }

  private def checkOutput(place: Place, batch: Int, output: Seq[Any]): Unit = {
    val expected = expectedOf(place, batch)
    val (missing, wrong) = (expected.diff(output), output.diff(expected))
    if (missing.nonEmpty || wrong.nonEmpty) throw Violation(
      s"batch $batch, $place: rows missing ${missing.mkString(", ")}; not expected ${wrong.mkString(", ")}"
    )
  }

  private val expectedOutputs = mutable.Map.empty[(Place, Seq[Int]), IndexedSeq[Seq[Any]]]

  private def expectedOf(place: Place, batch: Int): Seq[Any] =
    expectedOutputs.getOrElseUpdate(
      (place, offsets),
      operators(place.operator).expected(place.partition, offsets)
    )(batch)

  private def maintain(id: Int, place: Place, executor: Int): Unit = {
    val here = executors(executor)
    val busy = actors.values.flatMap(_.provider).toSet
    val some = here.providers.collect { case ((_, `place`), one) if !busy(one) => one }
    for (provider <- some.lastOption) {
      tell(s"maintenance $id starts: $place, executor $executor")
      val actor = new Actor(s"maintenance $id", here.process)(provider.doMaintenance())
      actors(id) = Work(actor, place, executor, None, Some(provider))
      lastId = math.max(lastId, id)
    }
  }

  private def go(work: Work, operations: Int, and: Actor.Then): Unit = {
    val actor = work.actor
    tell(s"${actor.name} goes on for $operations operations" + (if (and == Actor.Pause) ""
                                                                else s", then $and"))
    val current = isCurrent(work)
    actor.go(operations, and)
    if (actor.ended) {
      actors.filterInPlace((_, other) => other.actor ne actor)
      tell(s"${actor.name} ends${actor.failure.fold("")(e => s" with ${withCauses(e)}")}")
      actor.failure.foreach {
        case e: Violation => throw e
        case e if current && !actor.disturbed =>
          throw Violation(s"a task of the batch fails: ${withCauses(e)}")
        case e if work.provider.exists(isLoaded) && !actor.disturbed =>
          throw Violation(s"maintenance fails: ${withCauses(e)}")
        case _ =>
      }
    }
  }

  /** Spark's provider does not maintain what was closed before. */
  private def isLoaded(provider: StateStoreProvider): Boolean =
    executors.exists(_.providers.values.exists(_ eq provider))

  private def mayEmit: Boolean = isPlanned && !emitted &&
    (places.forall(ended.contains) || mutation == Mutation.CommitsEarly && ended.nonEmpty)

  private def emit(): Unit = {
    tell(s"the sink receives batch $commits")
    val output = places.map(place => place -> ended.get(place).fold(Seq.empty[Any])(_.output)).toMap
    if (mutation == Mutation.SinkAppends || !sink.exists(_._1 == commits)) sink += commits -> output
    emitted = true
  }

  private def commit(): Unit = {
    tell(s"commit of batch $commits")
    ids :+= ended.collect { case (place, Ended(_, Some(file))) => place -> file }
    commits += 1
    ended = Map.empty
    emitted = false
  }

  private def restart(): Unit = {
    run = UUID.randomUUID
    runs += 1
    ended = Map.empty
    emitted = false
    if (mutation == Mutation.PlansAgain) offsets = offsets.take(commits)
    tell(s"the query starts again, run $runs")
  }

  private def kill(executor: Int): Unit = {
    tell(s"executor $executor is killed")
    val old = executors(executor)
    old.process.kill()
    actors.filterInPlace { (_, work) =>
      if (work.executor == executor) work.actor.die()
      work.executor != executor
    }
    old.close()
    executors(executor) = new Executor
  }

  private def unload(place: Place, executor: Int): Unit = {
    val here = executors(executor).providers
    for ((key, provider) <- here.toSeq if key._2 == place) {
      tell(s"executor $executor closes the provider of $place")
      provider.close()
      here.remove(key)
    }
  }

  // ---- the scheduler ----

  /** A possible move, by chance. */
  def next(): Move = {
    val choices = mutable.ArrayBuffer.empty[(Int, () => Move)]
    def choice(weight: Int)(move: => Move): Unit = choices += weight -> (() => move)
    def anyOf[T](some: collection.Seq[T]): T = some(random.nextInt(some.length))
    def executor = random.nextInt(Executors)
    def fresh = lastId + 1

    if (!isPlanned && start(commits) < units) choice(60)(Move.Plan(1 + random.nextInt(6)))
    if (isPlanned) {
      val running = actors.values.filter(isCurrent).groupMapReduce(_.place)(_ => 1)(_ + _)
      for (place <- places; tasks = running.getOrElse(place, 0) if tasks < 2)
        choice(if (tasks == 0 && !ended.contains(place)) 40 else 4)(Move.Launch(
          fresh,
          place,
          executor
        ))
    }
    if (actors.nonEmpty) {
      def id = anyOf(actors.keys.toSeq)
      def fault = anyOf(Seq(Actor.FailBefore, Actor.FailAfter))
      if (setup.atomic) {
        choice(100)(Move.Go(id, Int.MaxValue, Actor.Pause))
        choice(20)(Move.Go(id, random.nextInt(20), fault))
      } else {
        def operations = anyOf(Seq(1, 1, 2, 3, 5, 8, 30))
        choice(100)(Move.Go(id, operations, Actor.Pause))
        choice(5)(Move.Go(id, operations, fault))
      }
    }
    if (mayEmit) choice(30)(Move.Emit)
    if (emitted) choice(30)(Move.Commit)
    if (actors.size < 4) choice(15)(Move.Maintain(fresh, anyOf(places), executor))
    choice(5)(Move.Restart)
    choice(5)(Move.Kill(executor))
    choice(2)(Move.Unload(anyOf(places), executor))

    var at = random.nextInt(choices.map(_._1).sum)
    choices.find { case (weight, _) =>
      at -= weight
      at < 0
    }.get._2()
  }

  /** Runs the rest of the input without a fault, and checks the sink and the files. */
  def finish(): Unit = {
    tell("the rest runs without a fault")
    if (setup.killedAtEnd) {
      executors.indices.foreach(kill)
      restart()
    }
    while (start(commits) < units || isPlanned) {
      apply(Move.Plan(units))
      for (place <- places if !ended.contains(place)) {
        val id = lastId + 1
        apply(Move.Launch(id, place, id % Executors))
        apply(Move.Go(id, Int.MaxValue, Actor.Pause))
      }
      apply(Move.Emit)
      apply(Move.Commit)
    }
    for (place <- places; executor <- executors.indices) {
      val id = lastId + 1
      apply(Move.Maintain(id, place, executor))
      apply(Move.Go(id, Int.MaxValue, Actor.Pause))
    }
    checkSink()
    checkVersions()
  }

  private def checkSink(): Unit = for (batch <- 0 until commits) {
    val found = sink.collect { case (`batch`, output) => output }
    if (found.length != 1) throw Violation(s"the sink has batch $batch ${found.length} times")
    for (place <- places) checkOutput(place, batch, found.head(place))
  }

  /** The retained versions can be read from the files. */
  private def checkVersions(): Unit = {
    val process = new SimulatedProcess(disk)
    try for (place <- places; version <- math.max(1, commits + 1 - setup.retained) to commits) {
        val provider = begun(place, process, UUID.randomUUID)
        try {
          val store = provider.getStore(version.toLong, idOf(place, version))
          try format.open(store, operators(place.operator).shape)
          finally store.abort()
        } catch {
          case e: Exception =>
            throw Violation(s"version $version of $place cannot be read: ${withCauses(e)}")
        } finally provider.close()
      }
    finally process.forget()
  }

  def close(): Unit = {
    for (i <- executors.indices) {
      executors(i).process.killed = true
      actors.values.foreach(work => if (work.executor == i) work.actor.die())
      executors(i).close()
    }
  }

  def story: String =
    (operators.zipWithIndex.map { case (operator, i) => s"operator $i: $operator" } ++ told)
      .mkString("\n")
}

private[simulation] object Simulation {
  private val Executors = 2

  /**
   * A task, or the maintenance of a provider.
   *
   * @param of the run and the batch of a task
   * @param provider that of maintenance
   */
  private final case class Work(
      actor: Actor,
      place: Place,
      executor: Int,
      of: Option[(UUID, Int)],
      provider: Option[StateStoreProvider]
  )

  /** The result of a task. */
  private final case class Ended(output: Seq[Any], file: Option[String])

  /** An error with the ones that caused it: Spark's error of a commit names only the provider. */
  private def withCauses(e: Throwable): String =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).mkString("; caused by ")

  private val known = mutable.Map.empty[Any, StateStoreConf]

  private def settings(format: StateFormat, setup: Setup, mutation: Mutation): StateStoreConf = {
    val retained = if (mutation == Mutation.RetainsTooFew) setup.retained - 2 else setup.retained
    known.getOrElseUpdate(
      (format, setup.ids, retained, setup.deltas, setup.memory), {
        val conf = new SQLConf
        conf.setConfString("spark.sql.streaming.minBatchesToRetain", s"$retained")
        conf.setConfString(
          "spark.sql.streaming.stateStore.minDeltasForSnapshot",
          s"${setup.deltas}"
        )
        if (setup.ids)
          conf.setConfString("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
        for (bytes <- setup.memory)
          conf.setConfString("spark.sql.streamJoin.segmentMemory", bytes.toString)
        StoreReports.withoutCommitChecks(conf)
        format.settings(conf)
      }
    )
  }

  /** A history, and what it violates. */
  final case class Outcome(moves: Vector[Move], violation: Option[String], story: String)

  /** Draws a history. */
  def draw(setup: Setup, format: StateFormat, count: Int, mutation: Mutation): Outcome = {
    val moves = Vector.newBuilder[Move]
    through(setup, format, mutation) { simulation =>
      for (_ <- 1 to count) {
        val move = simulation.next()
        moves += move
        simulation(move)
      }
    }(moves.result())
  }

  /** Runs a history again. */
  def replay(setup: Setup, format: StateFormat, moves: Vector[Move], mutation: Mutation): Outcome =
    through(setup, format, mutation)(simulation => moves.foreach(simulation(_)))(moves)

  private def through(setup: Setup, format: StateFormat, mutation: Mutation)(
      body: Simulation => Unit
  )(moves: => Vector[Move]): Outcome = {
    val simulation = new Simulation(setup, format, mutation)
    val violation =
      try {
        body(simulation)
        simulation.finish()
        None
      } catch {
        case Violation(what) => Some(what)
      } finally simulation.close()
    Outcome(moves, violation, simulation.story)
  }

  /** Leaves out moves as long as the history violates something. */
  def shrink(
      found: Outcome,
      setup: Setup,
      format: StateFormat,
      mutation: Mutation
  ): (Outcome, Setup) = {
    var (best, last) = (found, setup)
    def improves(setup: Setup, moves: Vector[Move]): Boolean = {
      val outcome = replay(setup, format, moves, mutation)
      if (outcome.violation.nonEmpty) {
        best = outcome
        last = setup
      }
      outcome.violation.nonEmpty
    }
    var size = math.max(1, best.moves.length / 2)
    var smaller = true
    while (size > 1 || smaller) {
      smaller = false
      var at = 0
      while (at < best.moves.length)
        if (improves(last, best.moves.patch(at, Nil, size))) smaller = true else at += size
      if (!smaller) {
        smaller = size > 1
        size = math.max(1, size / 2)
      }
    }
    for (simpler <- Seq(last.copy(memory = None), last.copy(ids = false)))
      if (simpler != last) improves(simpler, best.moves)
    (best, last)
  }
}
