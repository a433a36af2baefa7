import { WorkerPool } from '../../../engine/workers/pool.ts'

const pool = new WorkerPool({ threads: 1 })
console.log(await pool.run(new URL('./tasks.ts', import.meta.url), 'count', 30_000))
