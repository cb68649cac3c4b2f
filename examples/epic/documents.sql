-- 10,000 documents of uneven size: each hundredth has 20,000 words, the others 20.
PRAGMA journal_mode = WAL;
CREATE TABLE documents (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE fingerprints (id INTEGER PRIMARY KEY, fingerprint INTEGER NOT NULL);
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
INSERT INTO documents
SELECT n, replace(hex(zeroblob(iif(n % 100 = 0, 2500, 3))), '0', 'weir ' || n || ' pond ' || n % 7 || ' ')
FROM numbers;
UPDATE documents SET text = '' WHERE id = 5000; -- one that cannot be done
