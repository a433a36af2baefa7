import { definePlugin } from '../../engine/index.ts'
import { bridgeA, bridgeB, bridgeC } from './bridges.ts'
import compatible from './compatible.ts'
import echo from './echo.ts'
import messages from './messages.ts'
import native from './native.ts'

/** Providers: where requests go. */
export default definePlugin({
  name: 'providers',
  summary: 'Vendors and servers that answer requests, and an echo to try things out.',
  providers: [native, compatible, messages, bridgeA, bridgeB, bridgeC, echo],
})
