// query.mjs FILE SQL: the rows of SQL as JSON; `lines` is the recording as DuckDB takes it by itself.
import { createRequire } from 'node:module';

// The package lies in the build folder: NODE_PATH says where.
const { DuckDBInstance } = createRequire(`${process.env.NODE_PATH}/`)('@duckdb/node-api');
const [file, sql] = process.argv.slice(2);
const connection = await (await DuckDBInstance.create(':memory:')).connect();

await connection.run(`CREATE VIEW lines AS SELECT * FROM read_json_auto('${file.replaceAll("'", "''")}')`);
const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
process.stdout.write(`${JSON.stringify(rows)}\n`);
