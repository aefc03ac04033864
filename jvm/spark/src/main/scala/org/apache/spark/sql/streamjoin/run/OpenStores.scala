package org.apache.spark.sql.streamjoin.run

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkEnv
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCoordinatorRef,
  StateStoreId,
  StateStoreProviderId
}
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

/**
 * The stores of an operator whose rows are in the memory of this process. The end of the run
 * releases the rows. Spark closes the stores of an ended run only in its next maintenance, up to a
 * minute later.
 *
 * Executors get no report of the end of a run. There, the first store of a run ends the runs of
 * which Spark has no active store any more.
 */
private[streamjoin] final class OpenStores private (info: StatefulOperatorStateInfo)
    extends AutoCloseable {

  /** What releases the rows, by partition. */
  private val opened = new ConcurrentHashMap[Int, () => Unit]

  /** Adds a store. */
  def add(partition: Int)(release: => Unit): Unit = {
    opened.put(partition, () => release)
    ()
  }

  override def close(): Unit = opened.values.forEach(_.apply())

  private def isActive(stores: StateStoreCoordinatorRef, executor: String): Boolean =
    opened.keySet.asScala.exists { partition =>
      val store = StateStoreProviderId(info, partition, StateStoreId.DEFAULT_STORE_NAME)
      stores.verifyIfInstanceActive(store, executor)
    }
}

private[streamjoin] object OpenStores {

  private val stores = new PerOperator[OpenStores]

  def of(info: StatefulOperatorStateInfo): OpenStores = stores.of(info) {
    Option(SparkEnv.get).foreach(endOthers(info.queryRunId, _))
    new OpenStores(info)
  }

  private def endOthers(run: UUID, env: SparkEnv): Unit = {
    lazy val coordinator = StateStoreCoordinatorRef.forExecutor(env)
    RunScope.end { other =>
      val open = stores.ofRun(other)
      other != run && open.nonEmpty && !open.exists(_.isActive(coordinator, env.executorId))
    }
  }
}
