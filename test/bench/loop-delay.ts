// A plugin for the benchmark of hostile bodies: how long the gateway's thread was held up since it was last asked.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { definePlugin, defineStage, noConfig } from '../../engine/index.ts'

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

const loopDelay = defineStage({
  name: 'loop-delay',
  summary: 'Answer with the delays of the event loop in milliseconds, and begin anew.',
  config: noConfig,
  needs: [],
  provides: ['reply'],
  build: () => () => {
    const [p50, p99] = [50, 99].map((percent) => delay.percentile(percent) / 1e6)
    const value = { p50: p50 ?? 0, p99: p99 ?? 0, max: delay.max / 1e6 }
    delay.reset()
    return { reply: { status: 200, headers: {}, body: { kind: 'json', value } } }
  },
})

export default definePlugin({ name: 'loop-delay', summary: 'How long the thread is held up.', stages: [loopDelay] })
