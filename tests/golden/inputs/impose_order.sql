-- the example of the documentation
SELECT *
FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE) AS o
JOIN IMPOSE_ORDER(TABLE(deliveries), DESCRIPTOR(delivery_time), INTERVAL '1' MINUTE) AS d
  ON o.id = d.id
 AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- named arguments in any order
SELECT id FROM IMPOSE_ORDER(lag => INTERVAL '1' MINUTE, column => DESCRIPTOR(order_time), input => TABLE(orders));

-- the column and the lag as strings
SELECT id FROM impose_order(TABLE(orders), 'order_time', '90 seconds');

-- a query as the input
SELECT placed FROM IMPOSE_ORDER(TABLE(SELECT id, order_time AS placed FROM orders), DESCRIPTOR(placed), INTERVAL '1' MINUTE);

-- a column of numbers
SELECT n FROM IMPOSE_ORDER(TABLE(clicks), DESCRIPTOR(n), 5);

-- an idle timeout
SELECT id FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE, INTERVAL '10' SECOND);

-- how far times may be ahead
SELECT id FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE, max_ahead => INTERVAL '1' HOUR, ahead => 'keep');

-- the same without names
SELECT id FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE, INTERVAL '10' SECOND, INTERVAL '1' HOUR, 'reject');

-- numbers have no clock to be ahead of
SELECT n FROM IMPOSE_ORDER(TABLE(clicks), DESCRIPTOR(n), 5, max_ahead => INTERVAL '1' HOUR);

-- rows ahead can be rejected or kept
SELECT id FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE, max_ahead => INTERVAL '1' HOUR, ahead => 'cap');

-- ahead of what?
SELECT id FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE, ahead => 'keep');

-- Spark's own watermark clause
SELECT o.id, address FROM STREAM(orders) WATERMARK order_time DELAY OF INTERVAL 1 MINUTE AS o JOIN deliveries_ordered AS d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a table: nothing happens
SELECT name FROM IMPOSE_ORDER(TABLE(customers), DESCRIPTOR(since), INTERVAL '1' MINUTE);

-- a backquoted name and a comment within
SELECT `o`.`id` FROM IMPOSE_ORDER(TABLE(`orders`), /* the time */ DESCRIPTOR(`order_time`), INTERVAL '1' MINUTE) AS `o`;

-- the table without parentheses
SELECT * FROM IMPOSE_ORDER(orders, DESCRIPTOR(order_time), INTERVAL '1' MINUTE);

-- TABLE without parentheses
SELECT * FROM IMPOSE_ORDER(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' MINUTE);

-- as Hazelcast writes it
SELECT * FROM TABLE(IMPOSE_ORDER(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' MINUTE)) AS o;

-- an error in it
SELECT * FROM TABLE(IMPOSE_ORDER(TABLE orders, DESCRIPTOR(no_such), INTERVAL '1' MINUTE)) AS o;

-- no such stream
SELECT * FROM IMPOSE_ORDER(TABLE(order), DESCRIPTOR(order_time), INTERVAL '1' MINUTE);

-- no such column
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(ordertime), INTERVAL '1' MINUTE);

-- the column without DESCRIPTOR
SELECT * FROM IMPOSE_ORDER(TABLE(orders), order_time, INTERVAL '1' MINUTE);

-- two columns
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time, seq), INTERVAL '1' MINUTE);

-- the lag is missing
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time));

-- the column is missing
SELECT * FROM IMPOSE_ORDER(TABLE(orders), INTERVAL '1' MINUTE);

-- no arguments
SELECT * FROM IMPOSE_ORDER();

-- too many arguments
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE, INTERVAL '1' MINUTE, INTERVAL '1' MINUTE, 'keep', 'id', 5);

-- a name that is none of the arguments
SELECT * FROM IMPOSE_ORDER(input => TABLE(orders), column => DESCRIPTOR(order_time), delay => INTERVAL '1' MINUTE);

-- the same argument by place and by name
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE, lag => INTERVAL '2' MINUTE);

-- an argument by place behind one by name
SELECT * FROM IMPOSE_ORDER(TABLE(orders), column => DESCRIPTOR(order_time), INTERVAL '1' MINUTE);

-- a lag in months
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MONTH);

-- a negative lag
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '-1' MINUTE);

-- a lag that is no interval
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), 'a while');

-- NULL as the lag
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), NULL);

-- a lag that is a column
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), price);

-- a number as the lag of a time
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), 60);

-- an interval as the lag of a number
SELECT * FROM IMPOSE_ORDER(TABLE(clicks), DESCRIPTOR(n), INTERVAL '1' MINUTE);

-- a column of another type
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(item), INTERVAL '1' MINUTE);

-- a field inside a column
SELECT * FROM IMPOSE_ORDER(TABLE(SELECT struct(order_time AS t) AS s FROM orders), DESCRIPTOR(s.t), INTERVAL '1' MINUTE);

-- one order inside another
SELECT * FROM IMPOSE_ORDER(IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE), DESCRIPTOR(seq), 5);

-- as a scalar function
SELECT IMPOSE_ORDER(order_time, INTERVAL '1' MINUTE) FROM orders;

-- DESCRIPTOR alone
SELECT DESCRIPTOR(order_time) FROM orders;

-- a union as the input
SELECT o.id, o.t FROM IMPOSE_ORDER(TABLE(SELECT id, order_time AS t FROM orders UNION ALL SELECT id, return_time FROM returns), DESCRIPTOR(t), INTERVAL '1' MINUTE) o LEFT SEMI JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.t AND o.t + INTERVAL '1' HOUR;

-- a common table expression as the input
SELECT id FROM IMPOSE_ORDER(TABLE(WITH dear AS (SELECT * FROM orders WHERE price > 4) SELECT * FROM dear), DESCRIPTOR(order_time), INTERVAL '1' MINUTE);

-- an order on a second column of a query with an order
SELECT o.id FROM IMPOSE_ORDER(TABLE(SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE)), DESCRIPTOR(seq), 5) o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- names for the columns
SELECT o.a, o.b FROM IMPOSE_ORDER(TABLE(returns), DESCRIPTOR(return_time), INTERVAL '1' MINUTE) AS o(a, b);

-- a text that is no number as the lag of a number
SELECT * FROM IMPOSE_ORDER(TABLE(clicks), DESCRIPTOR(n), 'a while');

-- an idle timeout that is no interval
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE, 'a while');

-- Hazelcast's own form, a query
SELECT * FROM TABLE(IMPOSE_ORDER((SELECT id, order_time FROM orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE)) AS o;

-- Hazelcast's own form, named
SELECT id FROM TABLE(IMPOSE_ORDER(input => (TABLE orders), column => DESCRIPTOR(order_time), lag => INTERVAL '1' MINUTE));

-- STREAM inside TABLE
SELECT id FROM IMPOSE_ORDER(TABLE(STREAM orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE);

-- STREAM as the input
SELECT o.id FROM IMPOSE_ORDER(STREAM(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE) o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- an interval of SQL as a string
SELECT id FROM IMPOSE_ORDER(TABLE orders, 'order_time', "INTERVAL '1' MINUTE");

-- no such stream inside TABLE
SELECT id FROM IMPOSE_ORDER(TABLE(STREAM nothing), DESCRIPTOR(order_time), INTERVAL '1' MINUTE);

-- an idle timeout of zero
SELECT id FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE, idle_timeout => INTERVAL '0' SECOND);
