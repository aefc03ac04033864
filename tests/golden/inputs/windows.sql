-- a window that follows
SELECT STREAM ROWTIME, o.id, d.address FROM orders_ordered AS o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d ON o.id = d.id;

-- a window that precedes
SELECT STREAM ROWTIME, o.id, d.address FROM orders_ordered OVER (RANGE INTERVAL '1' HOUR PRECEDING) AS o JOIN deliveries_ordered AS d ON o.id = d.id;

-- an outer join
SELECT STREAM ROWTIME, o.id, d.address FROM orders_ordered AS o OUTER JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d ON o.id = d.id;

-- the side without a match in an outer join leaves its window later
SELECT STREAM ROWTIME, o.id, d.address FROM orders_ordered OVER (RANGE INTERVAL '1' HOUR PRECEDING) AS o LEFT JOIN deliveries_ordered AS d ON o.id = d.id;

-- windows on both
SELECT STREAM ROWTIME, o.id, d.address FROM orders_ordered OVER (RANGE INTERVAL '1' HOUR PRECEDING) AS o JOIN deliveries_ordered OVER (RANGE INTERVAL '30' MINUTE PRECEDING) AS d ON o.id = d.id;

-- BETWEEN
SELECT o.id, d.address FROM orders_ordered AS o JOIN deliveries_ordered OVER (RANGE BETWEEN INTERVAL '30' MINUTE FOLLOWING AND INTERVAL '50' MINUTE FOLLOWING) AS d ON o.id = d.id;

-- a list of inputs
SELECT o.id, d.address FROM orders_ordered AS o, deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d WHERE o.id = d.id;

-- a query with a window
SELECT o.id, d.address FROM orders_ordered AS o JOIN (SELECT * FROM deliveries_ordered WHERE address <> 'Oak St') OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d ON o.id = d.id;

-- a function with a window
SELECT o.id, d.address FROM orders_ordered AS o JOIN IMPOSE_ORDER(TABLE(deliveries), DESCRIPTOR(delivery_time), INTERVAL '1' MINUTE) OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d ON o.id = d.id;

-- USING
SELECT id, address FROM orders_ordered JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) USING (id);

-- semi join
SELECT o.id FROM orders_ordered AS o LEFT SEMI JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d ON o.id = d.id;

-- numbers
SELECT ROWTIME, p.n FROM IMPOSE_ORDER(TABLE(clicks), DESCRIPTOR(n), 0) c JOIN IMPOSE_ORDER(TABLE(purchases), DESCRIPTOR(n), 0) OVER (RANGE 5 FOLLOWING) p ON c.id = p.id;

-- dates
SELECT s.id, h.ROWTIME FROM IMPOSE_ORDER(TABLE(shipments), DESCRIPTOR(day), INTERVAL '0' DAY) s JOIN IMPOSE_ORDER(TABLE(holidays), DESCRIPTOR(day), INTERVAL '0' DAY) OVER (RANGE INTERVAL '2' DAY FOLLOWING) h ON s.id = h.id;

-- ROWTIME of one stream
SELECT STREAM ROWTIME, id FROM orders_ordered WHERE ROWTIME < TIMESTAMP '2024-05-04 10:15:00';

-- ROWTIME in ON
SELECT o.id FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.ROWTIME BETWEEN o.ROWTIME AND o.ROWTIME + INTERVAL '1' HOUR;

-- ROWTIME of a join without windows is that of the later row
SELECT ROWTIME, o.id FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.ROWTIME BETWEEN o.ROWTIME AND o.ROWTIME + INTERVAL '1' HOUR;

-- a window aggregation by ROWTIME
SELECT window(ROWTIME, '1 hour').start, count(*) FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d ON o.id = d.id GROUP BY window(ROWTIME, '1 hour');

-- a column that is called so
SELECT rowtime FROM (SELECT id AS rowtime, order_time FROM orders_ordered);

-- a chain
SELECT o.id, d.address, r.return_time FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) d ON o.id = d.id JOIN returns_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) r ON o.id = r.id;

-- OVER as an alias
SELECT over.id FROM orders_ordered OVER (id, order_time, item, price, seq);

-- STREAM as a column
SELECT stream, stream * 2 FROM (SELECT id AS stream FROM orders);

-- rows
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (ROWS 10 PRECEDING) d ON o.id = d.id;

-- no direction
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR) d ON o.id = d.id;

-- RANGE left out
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (INTERVAL '1' HOUR FOLLOWING) d ON o.id = d.id;

-- unbounded
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE UNBOUNDED PRECEDING) d ON o.id = d.id;

-- the current row
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE CURRENT ROW) d ON o.id = d.id;

-- half of BETWEEN
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE BETWEEN INTERVAL '1' HOUR PRECEDING) d ON o.id = d.id;

-- the wrong way round
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE BETWEEN INTERVAL '1' HOUR FOLLOWING AND INTERVAL '1' HOUR PRECEDING) d ON o.id = d.id;

-- partitions
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (PARTITION BY id RANGE INTERVAL '1' HOUR PRECEDING) d ON o.id = d.id;

-- months
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' MONTH FOLLOWING) d ON o.id = d.id;

-- a negative length
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '-1' HOUR FOLLOWING) d ON o.id = d.id;

-- a column as the length
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE seq FOLLOWING) d ON o.id = d.id;

-- a number as the length for times
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE 60 FOLLOWING) d ON o.id = d.id;

-- an interval as the length for numbers
SELECT * FROM IMPOSE_ORDER(TABLE(clicks), DESCRIPTOR(n), 0) c JOIN IMPOSE_ORDER(TABLE(purchases), DESCRIPTOR(n), 0) OVER (RANGE INTERVAL '1' HOUR FOLLOWING) p ON c.id = p.id;

-- hours as the length for dates
SELECT * FROM IMPOSE_ORDER(TABLE(shipments), DESCRIPTOR(day), INTERVAL '0' DAY) s JOIN IMPOSE_ORDER(TABLE(holidays), DESCRIPTOR(day), INTERVAL '0' DAY) OVER (RANGE INTERVAL '2' HOUR FOLLOWING) h ON s.id = h.id;

-- no watermark on the side of the window
SELECT * FROM orders_ordered o JOIN deliveries OVER (RANGE INTERVAL '1' HOUR FOLLOWING) d ON o.id = d.id;

-- no watermark on the other side
SELECT * FROM orders o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) d ON o.id = d.id;

-- two watermarks on one side
SELECT * FROM IMPOSE_ORDER(TABLE(SELECT * FROM deliveries_ordered), DESCRIPTOR(due), INTERVAL '1' MINUTE) o JOIN returns_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) d ON o.id = d.id;

-- a table
SELECT * FROM orders_ordered o JOIN customers OVER (RANGE INTERVAL '1' HOUR FOLLOWING) c ON o.id = c.id;

-- not in a join
SELECT * FROM orders_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING);

-- only the window
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) d;

-- a misspelt word behind a window
SELECT * FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) d ONE o.id = d.id;

-- a misspelt column behind a window
SELECT *
FROM orders_ordered o
JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) d ON o.id = d.idd;

-- ROWTIME of a stream without a watermark
SELECT ROWTIME FROM orders;

-- ROWTIME of a table
SELECT ROWTIME FROM customers;

-- ROWTIME in ON, of neither input
SELECT * FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND ROWTIME > d.delivery_time;

-- ROWTIME of an outer join without windows
SELECT ROWTIME FROM orders_ordered o LEFT JOIN deliveries_ordered d ON o.id = d.id AND d.ROWTIME BETWEEN o.ROWTIME AND o.ROWTIME + INTERVAL '1' HOUR;

-- ROWTIME of an alias that is not there
SELECT x.ROWTIME FROM orders_ordered o;

-- STREAM_WINDOW by hand, with a direction that is none
SELECT * FROM orders_ordered o JOIN STREAM_WINDOW(TABLE(deliveries_ordered), INTERVAL '1' HOUR, 'AFTER') d ON o.id = d.id;

-- STREAM_WINDOW by hand, without a direction
SELECT * FROM orders_ordered o JOIN STREAM_WINDOW(TABLE(deliveries_ordered), INTERVAL '1' HOUR) d ON o.id = d.id;

-- names for the columns behind a window
SELECT o.id, d.c FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d(a, b, c, e) ON o.id = d.a;

-- the alias before the window
SELECT o.id, d.*, d.ROWTIME FROM orders_ordered o JOIN deliveries_ordered AS d OVER (RANGE INTERVAL '1' HOUR FOLLOWING) ON o.id = d.id;

-- a hint before STREAM
SELECT /*+ REPARTITION(1) */ STREAM ROWTIME, o.id FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) d ON o.id = d.id;

-- a join with a window in pipe syntax
FROM orders_ordered o |> JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d ON o.id = d.id |> SELECT o.id, d.address;

-- OVER as an alias, a column and a window, with comments
select /* over (range */ over.id as over from orders_ordered as over join deliveries_ordered/**/over/* w */(
    range -- a window
    interval 1 hour following) as d
on over.id = d.id;

-- a window inside a sub-query of FROM
SELECT o.id FROM orders_ordered o JOIN (SELECT * FROM deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING)) d ON o.id = d.id;

-- too few names for the columns
SELECT o.id FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d(a, b) ON o.id = d.a;

-- a length that is no interval
SELECT o.id FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE 'an hour' FOLLOWING) AS d ON o.id = d.id;
