-- EXISTS
SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM deliveries_ordered d WHERE d.id = o.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- NOT EXISTS
SELECT o.id FROM orders_ordered o WHERE NOT EXISTS (SELECT 1 FROM deliveries_ordered d WHERE d.id = o.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR) AND o.price > 0;

-- IN
SELECT o.item FROM orders_ordered o WHERE o.id IN (SELECT d.id FROM deliveries_ordered d WHERE d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- NOT IN of columns that are never NULL
SELECT o.item FROM orders_ordered o WHERE coalesce(o.id, 0) NOT IN (SELECT coalesce(d.id, -1) FROM deliveries_ordered d WHERE d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- EXISTS by ROWTIME
SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM deliveries_ordered d WHERE d.id = o.id AND d.ROWTIME BETWEEN o.ROWTIME AND o.ROWTIME + INTERVAL '1' HOUR);

-- the same stream inside
SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM orders_ordered p WHERE p.id <> o.id AND length(p.item) = length(o.item) AND p.order_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- EXISTS on a join
SELECT o.id, d.address FROM orders_ordered o, deliveries_ordered d WHERE o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR AND EXISTS (SELECT 1 FROM returns_ordered r WHERE r.id = d.id AND r.return_time BETWEEN d.delivery_time AND d.delivery_time + INTERVAL '20' MINUTE);

-- a common table expression inside
WITH d AS (SELECT * FROM deliveries_ordered) SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM d WHERE d.id = o.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- a stream joined with a table inside
SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM deliveries_ordered d JOIN customers c ON c.id = d.id WHERE d.id = o.id AND c.name = 'Ann' AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- a window inside
SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM deliveries_ordered d JOIN returns_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) r ON r.id = d.id WHERE d.id = o.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- a table inside: Spark's own
SELECT o.item FROM orders_ordered o WHERE o.id IN (SELECT id FROM customers);

-- NOT IN of columns that may be NULL
SELECT o.item FROM orders_ordered o WHERE o.id NOT IN (SELECT d.id FROM deliveries_ordered d WHERE d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- EXISTS without a bound
SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM deliveries_ordered d WHERE d.id = o.id);

-- IN without a bound
SELECT o.item FROM orders_ordered o WHERE o.id IN (SELECT id FROM deliveries_ordered);

-- EXISTS of anything
SELECT o.item FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM deliveries_ordered);

-- EXISTS inside OR
SELECT o.id FROM orders_ordered o WHERE o.price > 5 OR EXISTS (SELECT 1 FROM deliveries_ordered d WHERE d.id = o.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- EXISTS that a NOT before OR makes a condition of its own
SELECT o.item FROM orders_ordered o WHERE NOT (o.price > 5 OR NOT EXISTS (SELECT 1 FROM deliveries_ordered d WHERE d.id = o.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR));

-- EXISTS in a list
SELECT o.id, EXISTS (SELECT 1 FROM deliveries_ordered d WHERE d.id = o.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR) FROM orders_ordered o;

-- EXISTS with a count
SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT count(*) FROM deliveries_ordered d WHERE d.id = o.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR HAVING count(*) > 1);

-- a single value
SELECT o.id FROM orders_ordered o WHERE o.order_time < (SELECT max(delivery_time) FROM deliveries_ordered);

-- a stream without a watermark inside
SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM deliveries d WHERE d.id = o.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- EXISTS inside EXISTS
SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM deliveries_ordered d WHERE d.id = o.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR AND EXISTS (SELECT 1 FROM returns_ordered r WHERE r.id = d.id AND r.return_time BETWEEN d.delivery_time AND d.delivery_time + INTERVAL '1' HOUR));

-- IN of several columns
SELECT o.item FROM orders_ordered o WHERE (o.id, 'Ash St') IN (SELECT d.id, d.address FROM deliveries_ordered d WHERE d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- NOT IN of several columns that may be NULL
SELECT o.item FROM orders_ordered o
WHERE (o.id, o.item) NOT IN (SELECT d.id, d.address FROM deliveries_ordered d WHERE d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);

-- a window that no join takes in
SELECT o.id FROM orders_ordered o WHERE EXISTS (SELECT 1 FROM deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) d WHERE d.id = o.id);

-- one bound, in lines
SELECT o.id
FROM orders_ordered o
WHERE EXISTS (
  SELECT 1 FROM deliveries_ordered d
  WHERE d.id = o.id AND d.delivery_time >= o.order_time);

-- random values read twice
WITH o AS (SELECT *, rand(7) AS r FROM orders_ordered) SELECT a.id FROM o a WHERE EXISTS (SELECT 1 FROM o b WHERE b.r = a.r AND b.order_time = a.order_time);
