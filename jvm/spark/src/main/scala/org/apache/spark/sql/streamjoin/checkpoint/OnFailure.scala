package org.apache.spark.sql.streamjoin.checkpoint

private[checkpoint] object OnFailure {

  /** Runs an action. If it fails, it releases first what the action leaves open. */
  def apply[T](release: => Unit)(action: => T): T =
    try action
    catch {
      case e: Throwable =>
        release
        throw e
    }
}
