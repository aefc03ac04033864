-- left join: an order without delivery comes out padded
SELECT o.id, d.address FROM orders_ordered o LEFT JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- right join
SELECT o.id, d.address FROM orders_ordered o RIGHT JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- full join
SELECT o.id, d.address FROM orders_ordered o FULL OUTER JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- left semi join
SELECT o.id FROM orders_ordered o LEFT SEMI JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- left anti join
SELECT o.id FROM orders_ordered o LEFT ANTI JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a list of inputs and WHERE
SELECT o.id, d.address FROM orders_ordered o, deliveries_ordered d WHERE o.id = d.id AND d.delivery_time >= o.order_time AND d.delivery_time <= o.order_time + INTERVAL '1' HOUR AND price < 3;

-- a list of three inputs and WHERE
SELECT o.id, d.address, r.return_time FROM orders_ordered o, deliveries_ordered d, returns_ordered r WHERE o.id = d.id AND d.id = r.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR AND r.return_time BETWEEN d.delivery_time AND d.delivery_time + INTERVAL '1' HOUR;

-- USING
SELECT id, address FROM orders_ordered o JOIN deliveries_ordered d USING (id) WHERE o.item = 'pen' AND FALSE;

-- NATURAL
SELECT id, address FROM (SELECT id, order_time AS t FROM orders_ordered) NATURAL JOIN (SELECT id, delivery_time AS t, address FROM deliveries_ordered);

-- USING the time too
SELECT id, t FROM (SELECT id, order_time AS t FROM orders_ordered) FULL JOIN (SELECT id, return_time AS t FROM returns_ordered) USING (id, t);

-- a stream with itself
SELECT a.id, b.id FROM orders_ordered a JOIN orders_ordered b ON a.item = b.item AND a.order_time BETWEEN b.order_time - INTERVAL '1' MINUTE AND b.order_time;

-- a chain
SELECT o.id, d.address, r.return_time FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR LEFT JOIN returns_ordered r ON d.id = r.id AND r.return_time BETWEEN d.delivery_time AND d.delivery_time + INTERVAL '20' MINUTE;

-- common table expressions
WITH o AS (SELECT * FROM orders_ordered WHERE price > 1), d AS (SELECT id, delivery_time FROM deliveries_ordered) SELECT o.item FROM o JOIN d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a stream with a table: Spark's own join
SELECT o.item, c.name FROM orders_ordered o JOIN customers c ON o.id = c.id;

-- the result with a table
SELECT c.name, d.address FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR JOIN customers c ON c.id = o.id;

-- numbers as times
SELECT c.n, p.n FROM IMPOSE_ORDER(TABLE(clicks), DESCRIPTOR(n), 0) c JOIN IMPOSE_ORDER(TABLE(purchases), DESCRIPTOR(n), 0) p ON c.id = p.id AND p.n BETWEEN c.n AND c.n + 5;

-- dates as times
SELECT s.id, h.day FROM IMPOSE_ORDER(TABLE(shipments), DESCRIPTOR(day), INTERVAL '0' DAY) s JOIN IMPOSE_ORDER(TABLE(holidays), DESCRIPTOR(day), INTERVAL '0' DAY) h ON s.id = h.id AND h.day >= s.day AND h.day <= s.day + INTERVAL '2' DAY;

-- a window aggregation above
SELECT window(o.order_time, '1 hour').start, count(*) FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR GROUP BY window(o.order_time, '1 hour');

-- both inputs of a union
SELECT o.id, u.t FROM orders_ordered o JOIN (SELECT id, delivery_time AS t FROM deliveries_ordered UNION ALL SELECT id, return_time FROM returns_ordered) u ON o.id = u.id AND u.t BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- neither bound
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id;

-- the upper bound is missing
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time >= o.order_time;

-- the lower bound is missing
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time <= o.order_time + INTERVAL '1' HOUR;

-- a bound on the wrong column
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.due BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- both bounds on one side
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND o.order_time BETWEEN TIMESTAMP '2024-05-04 10:00:00' AND TIMESTAMP '2024-05-04 11:00:00';

-- the bounds inside OR
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND (d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR OR o.price > 5);

-- months
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' MONTH;

-- a number added to a time
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + 3600;

-- a watermark on the left only
SELECT * FROM orders_ordered o JOIN deliveries d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a watermark on the right only
SELECT * FROM orders o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- the time that carries the watermark is left out
SELECT o.id FROM (SELECT id FROM orders_ordered) o JOIN deliveries_ordered d ON o.id = d.id;

-- the time is computed anew
SELECT o.id FROM (SELECT id, order_time + INTERVAL '1' HOUR AS t FROM orders_ordered) o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.t AND o.t + INTERVAL '1' HOUR;

-- an alias that is not there
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = x.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- the name of the view although it has an alias
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND deliveries_ordered.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a column of both inputs without alias
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a table where the time is meant
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o AND o + INTERVAL '1' HOUR;

-- the second join of a chain has no bound
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR JOIN returns_ordered r ON d.id = r.id;

-- the second join of a chain has one bound
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR JOIN returns_ordered r ON d.id = r.id AND r.return_time >= d.delivery_time;

-- an order joined with times of another type
SELECT * FROM IMPOSE_ORDER(TABLE(shipments), DESCRIPTOR(day), INTERVAL '1' DAY) s JOIN deliveries_ordered d ON s.id = d.id AND d.delivery_time BETWEEN s.day AND s.day + INTERVAL '1' DAY;

-- a bound that mixes both inputs
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time >= o.order_time AND d.delivery_time <= o.order_time + (d.due - o.order_time);

-- an aggregate without a window
SELECT o.item, count(*) FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR GROUP BY o.item;

-- ORDER BY of a stream
SELECT o.item FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR ORDER BY o.order_time;

-- a function that gives another answer each time
SELECT o.item FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR AND rand() < 0.5;

-- the draft's deliveries have no order_time
SELECT * FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE) AS o
 JOIN SELECT * FROM IMPOSE_ORDER(TABLE(deliveries), DESCRIPTOR(order_time), INTERVAL '1' MINUTE) AS d
 ON d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a hint
SELECT /*+ BROADCAST(d) */ o.id FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- an input in parentheses, comments and odd spaces
select o . id, -- JOIN deliveries OVER (RANGE
  `d`.`address` from ((`orders_ordered` as `o`)	join/**/(deliveries_ordered) as d
  on ((o.id) = (d.id)) and d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- common table expressions inside common table expressions
WITH a AS (SELECT * FROM orders_ordered), b AS (WITH c AS (SELECT a.id, d.address FROM a JOIN deliveries_ordered d ON a.id = d.id AND d.delivery_time BETWEEN a.order_time AND a.order_time + INTERVAL '1' HOUR) SELECT * FROM c) SELECT * FROM b;

-- two event times of one input
SELECT o.id FROM orders_ordered o JOIN IMPOSE_ORDER(TABLE(SELECT * FROM deliveries_ordered), DESCRIPTOR(due), INTERVAL '1' MINUTE) d ON o.id = d.id AND d.due >= o.order_time AND d.delivery_time <= o.order_time + INTERVAL '1' HOUR;

-- BETWEEN the wrong way round: no row can match
SELECT o.id FROM orders_ordered o LEFT JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time + INTERVAL '1' HOUR AND o.order_time;

-- random values read once
WITH o AS (SELECT *, rand(7) AS r FROM orders_ordered) SELECT o.id, o.r < 1 FROM o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- random values of a table, read twice around a join of streams
WITH r AS (SELECT id, rand(7) AS r FROM customers) SELECT o.id, a.r = b.r FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR JOIN r a ON a.id = o.id JOIN r b ON b.id = o.id;

-- random values read twice by a union
WITH o AS (SELECT *, rand(7) AS r FROM orders_ordered) SELECT id FROM o WHERE r < 2 UNION ALL SELECT id FROM o WHERE r < 2;

-- random values read twice by a join
WITH o AS (SELECT *, rand(7) AS r FROM orders_ordered) SELECT a.id, a.r = b.r FROM o a JOIN o b ON a.item = b.item AND a.order_time = b.order_time;

-- random values of a table read by an input of a join, and above it
WITH r AS (SELECT id, rand(7) AS r FROM customers) SELECT o.id FROM orders_ordered o JOIN (SELECT d.*, r.r FROM deliveries_ordered d JOIN r ON d.id = r.id) d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR JOIN r ON o.id = r.id AND r.r = d.r;

-- no condition at all
SELECT o.id FROM orders_ordered o CROSS JOIN deliveries_ordered d;

-- a list of inputs of which one has no condition
SELECT o.id FROM orders_ordered o, deliveries_ordered d, returns_ordered r WHERE o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- the bounds stand in WHERE
SELECT o.id FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id WHERE d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a time bounded by itself
SELECT o.id FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND o.order_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- names that need quotes
SELECT * FROM IMPOSE_ORDER(TABLE(SELECT id, order_time AS `order time` FROM orders), DESCRIPTOR(`order time`), INTERVAL '1' MINUTE) AS `my o` JOIN IMPOSE_ORDER(TABLE(SELECT id, delivery_time AS `a.b` FROM deliveries), DESCRIPTOR(`a.b`), INTERVAL '1' MINUTE) AS d ON `my o`.id = d.id;

-- inputs without aliases and times of one name
SELECT * FROM (SELECT order_time AS t, id AS i FROM orders_ordered) JOIN (SELECT delivery_time AS t, id FROM deliveries_ordered) ON i = id;

-- windows of one name
SELECT * FROM (SELECT window(order_time, '10 minutes') AS w, id AS i FROM orders_ordered) JOIN (SELECT window(delivery_time, '10 minutes') AS w, id FROM deliveries_ordered) ON i = id;

-- no watermark on numbers
SELECT * FROM IMPOSE_ORDER(TABLE(clicks), DESCRIPTOR(n), 0) c JOIN purchases p ON c.id = p.id AND p.n BETWEEN c.n AND c.n + 5;

-- no watermark on dates
SELECT * FROM shipments s JOIN IMPOSE_ORDER(TABLE(holidays), DESCRIPTOR(day), INTERVAL '0' DAY) h ON s.id = h.id AND h.day BETWEEN s.day AND s.day + INTERVAL '2' DAY;

-- no watermark on a query with an odd name
SELECT * FROM (SELECT id, order_time AS `order time` FROM orders) AS `my o` JOIN deliveries_ordered AS d ON `my o`.id = d.id AND d.delivery_time >= `my o`.`order time`;

-- nothing that could be a time
SELECT * FROM (SELECT item FROM orders) i JOIN orders_ordered AS o ON i.item = o.item;

-- bounds in the WHERE of a pipe
FROM orders_ordered AS o |> JOIN deliveries_ordered AS d ON o.id = d.id |> WHERE d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR |> SELECT o.id, d.address;

-- SELECT STREAM and a column without alias
SELECT STREAM item, address FROM orders_ordered AS o JOIN deliveries_ordered AS d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- the same with a comma before FROM
SELECT STREAM item, FROM orders_ordered WHERE price > 4;

-- windows of times without a zone
SELECT o.id FROM (SELECT id, window(t, '1 hour') AS w FROM IMPOSE_ORDER((SELECT id, CAST(order_time AS TIMESTAMP_NTZ) AS t FROM orders), 't', '1 minute')) o JOIN (SELECT id, window(t, '1 hour') AS w FROM IMPOSE_ORDER((SELECT id, CAST(return_time AS TIMESTAMP_NTZ) AS t FROM returns), 't', '1 minute')) r ON o.id = r.id AND o.w = r.w;

-- a query WITH on one side
SELECT o.id FROM orders_ordered o JOIN IMPOSE_ORDER((WITH r AS (SELECT id, return_time AS t FROM returns) SELECT * FROM r), 't', '1 minute') y ON o.id = y.id AND y.t BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a column called rowtime that was renamed below
SELECT ROWTIME, id FROM IMPOSE_ORDER((SELECT id, rowtime AS ts FROM (SELECT id, order_time AS rowtime FROM orders)), 'ts', '1 minute') WHERE id < 3;

-- a text instead of an interval
SELECT o.id, address FROM orders_ordered AS o JOIN deliveries_ordered AS d ON o.id = d.id AND d.delivery_time >= o.order_time AND d.delivery_time - o.order_time < '1 hour';

-- a retention of zero
SELECT /*+ STREAM_JOIN(retention => '0 seconds') */ o.id, address FROM orders_ordered AS o JOIN deliveries_ordered AS d ON o.id = d.id AND d.delivery_time >= o.order_time;

-- an option that is misspelt
SELECT /*+ STREAM_JOIN(retain => '1 hour') */ o.id, address FROM orders_ordered AS o JOIN deliveries_ordered AS d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- an option of another kind of join
SELECT /*+ STREAM_JOIN(state_ttl => '1 hour') */ o.id, address FROM orders_ordered AS o JOIN deliveries_ordered AS d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a value joined by AND
SELECT o.id, address FROM orders_ordered AS o JOIN deliveries_ordered AS d ON o.id = d.id AND d.delivery_time;

-- Flink's time of processing
SELECT o.id, v.address FROM orders_ordered AS o JOIN deliveries_ordered FOR SYSTEM_TIME AS OF PROCTIME() AS v ON o.id = v.id;

-- Flink's temporal table function
SELECT o.id, v.address FROM orders_ordered AS o, LATERAL TABLE(addresses(o.order_time)) AS v WHERE o.id = v.id;
