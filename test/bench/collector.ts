// Takes whatever an exporter of OpenTelemetry sends, and keeps nothing of it.
//   node test/bench/collector.ts <port>
import { createServer } from 'node:http'

createServer((asked, answer) => asked.resume().on('end', () => answer.end())).listen(
  Number(process.argv[2]),
  '127.0.0.1',
)
