import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { conformanceServer } from './server.ts'

// The server of the conformance suite as a program that speaks over its standard input and output.
await conformanceServer().connect(new StdioServerTransport())
