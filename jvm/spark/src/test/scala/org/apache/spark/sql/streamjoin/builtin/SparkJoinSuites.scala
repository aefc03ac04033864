package org.apache.spark.sql.streamjoin.builtin

import org.apache.spark.sql.streaming._

/*
 * Spark's own tests of its joins of streams, on this project's operator.
 */

class SparkInnerJoinSuite extends StreamingInnerJoinBase with OnStreamJoin

class SparkOuterJoinSuite extends StreamingOuterJoinBase with OnStreamJoin

class SparkFullOuterJoinSuite extends StreamingFullOuterJoinBase with OnStreamJoin

class SparkLeftSemiJoinSuite extends StreamingLeftSemiJoinBase with OnStreamJoin
