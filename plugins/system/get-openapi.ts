import { defineAction } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'

const open = (description: string) => shape.map({}, description)

/** Answers the document from which clients of the API are made. */
export default defineAction({
  name: 'get-openapi',
  summary: 'Answer the OpenAPI document of this API.',
  route: 'GET /api/openapi.json',
  access: { role: 'viewer' },
  answer: shape.object({
    openapi: shape.text('The version of OpenAPI.'),
    info: open('What the document is about.'),
    servers: shape.list(open('A server.'), 'Where the API is served.'),
    tags: shape.list(open('A group, with its name.'), 'The groups of the operations.'),
    paths: open('The operations, by path and method.'),
    components: open('Schemas, examples and security schemes, to which the operations refer.'),
  }),
  run: (_input, _services, _scope, { running }) => running.document(),
})
