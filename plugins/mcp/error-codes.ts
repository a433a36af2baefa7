import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  invalid_params: {
    status: 400,
    message: '{reason}',
    advice: 'Correct the parameters of the method as the message says.',
  },
  header_mismatch: {
    status: 400,
    message: 'The headers and the body disagree: {reason}.',
    advice: 'Send the headers that belong to the body; the message names the difference.',
  },
  unsupported_protocol_version: {
    status: 400,
    message: 'The protocol version "{version}" is not served here.',
    advice: 'Use a protocol version that the error lists.',
  },
  stdio_not_allowed: {
    status: 403,
    message: 'The program may not be started: mcp.allow_stdio in the configuration file does not allow its {field}.',
    advice:
      'List the program as it stands in the record in mcp.allow_stdio of the configuration file, or declare the server there.',
  },
  host_not_allowed: {
    status: 403,
    message: 'This is not served under the name in the host header.',
    advice: 'Use the address of the gateway, or add the name to mcp_security.allowed_hosts.',
  },
  tool_not_allowed: {
    status: 403,
    message: 'The tool "{tool}" is not offered here.',
    advice: 'Call a tool that tools/list names, or change "tools" in the record of the MCP server.',
  },
  session_not_found: {
    status: 404,
    message: 'The session is unknown or has ended; initialize a new one.',
    advice: 'Send initialize again, without a session id.',
  },
  not_acceptable: {
    status: 406,
    message: 'The accept header must list {expected}.',
    advice: 'Send an accept header that lists what the message names.',
  },
  stream_open: {
    status: 409,
    message: 'The session has an open stream already.',
    advice: 'Close the open stream first; a session has one.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
