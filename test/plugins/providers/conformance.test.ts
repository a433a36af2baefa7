import { bridgeA, bridgeB, bridgeC } from '../../../plugins/providers/bridges.ts'
import compatible from '../../../plugins/providers/compatible.ts'
import messages from '../../../plugins/providers/messages.ts'
import native from '../../../plugins/providers/native.ts'
import { conformProvider } from '../../conformance/provider.ts'

const config = (base_url: string, api_key: string) => ({ base_url, api_key })

conformProvider('native', { plugin: native, config })
conformProvider('compatible', { plugin: compatible, config })
conformProvider('messages', { plugin: messages, config })
conformProvider('messages with a bearer key', {
  plugin: messages,
  config: (base_url, api_key) => ({ base_url, api_key, auth: 'bearer' }),
})
conformProvider('bridge_a', { plugin: bridgeA, config })
conformProvider('bridge_b', { plugin: bridgeB, config })
conformProvider('bridge_c', { plugin: bridgeC, config })
