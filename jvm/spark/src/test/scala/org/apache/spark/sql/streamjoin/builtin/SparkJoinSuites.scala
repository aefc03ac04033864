package org.apache.spark.sql.streamjoin.builtin

import org.apache.spark.sql.streaming._

/*
 * Spark's tests of its stream joins, on this project's operator.
 */

class SparkInnerJoinSuite extends StreamingInnerJoinBase with OnStreamJoin

class SparkOuterJoinSuite extends StreamingOuterJoinBase with OnStreamJoin

class SparkFullOuterJoinSuite extends StreamingFullOuterJoinBase with OnStreamJoin

class SparkLeftSemiJoinSuite extends StreamingLeftSemiJoinBase with OnStreamJoin
