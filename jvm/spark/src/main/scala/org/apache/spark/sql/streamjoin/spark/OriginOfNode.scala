package org.apache.spark.sql.streamjoin.spark

import java.lang.reflect.Field

import scala.util.Try

import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}

/**
 * Changes the position of a plan node in the SQL text.
 *
 * Spark sets it when it creates the node, and has no method to change it. Without the change, error
 * messages would have the edited text and positions in it.
 */
private[streamjoin] object OriginOfNode {

  private val field: Option[Field] = Try {
    val f = classOf[TreeNode[_]].getDeclaredField("origin")
    f.setAccessible(true)
    f
  }.toOption

  val canBeSet: Boolean = field.nonEmpty

  def set(node: TreeNode[_], origin: Origin): Unit = field.foreach(_.set(node, origin))
}
