import client from 'prom-client'
import type { ToldMetric } from './instruments.ts'

/** Runs in the worker pool: several thousand series take longer than a request should wait. */
export default function print(processes: readonly (readonly ToldMetric[])[]): Promise<string> {
  return client.AggregatorRegistry.aggregate(processes.map((told) => [...told])).metrics()
}
