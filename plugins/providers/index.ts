import { definePlugin } from '../../engine/index.ts'
import azure from './azure.ts'
import bedrock from './bedrock.ts'
import { bridgeA, bridgeB, bridgeC } from './bridges.ts'
import compatible from './compatible.ts'
import echo from './echo.ts'
import gemini from './gemini.ts'
import messages from './messages.ts'
import native from './native.ts'

/** The shipped provider types. */
export default definePlugin({
  name: 'providers',
  summary: 'Provider types for vendors and local servers, and an echo for trying things out.',
  stability: 'stable',
  providers: [native, azure, compatible, messages, gemini, bedrock, bridgeA, bridgeB, bridgeC, echo],
})
