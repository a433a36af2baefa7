import { expect } from 'chai'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { checkPipelines } from '../../../engine/proof/load.ts'
import { registryOf } from './stubs.ts'

const pipeline = (name: string, ...routes: string[]) =>
  `name: ${name}\nsummary: ${name}.\npublic: true\nroutes: [${routes.join(', ')}]\nstages: [answer]\n`

function check(...texts: string[]) {
  const files = texts.map((text, index) => ({ file: `${index}.yaml`, text }))
  const { pipelines, diagnostics, warnings } = checkPipelines(files, registryOf(), {})
  const routes = pipelines.map(({ routes: all }) =>
    all.map(({ method, path, alias }) => `${method} ${path}${alias ? ' +' : ''}`),
  )
  return {
    routes,
    warnings: warnings.map(printDiagnostic),
    diagnostics: diagnostics.map(printDiagnostic).filter((line) => line.includes('alias') || line.includes('/')),
  }
}

describe('aliases', () => {
  const aliases = 'aliases: { /v1/: [/, /v1/v1/] }'

  it('serve every route of all files under each of their beginnings', () => {
    const { routes } = check(
      pipeline('a', 'POST /v1/a/:id', 'WS /v1/a'),
      aliases,
      pipeline('b', 'GET /b', 'GET /v10/b'),
    )
    expect(routes).to.deep.equal([
      ['POST /v1/a/:id', 'WS /v1/a', 'POST /a/:id +', 'POST /v1/v1/a/:id +', 'WS /a +', 'WS /v1/v1/a +'],
      ['GET /b', 'GET /v10/b'],
    ])
  })

  it('leave a path to the pipeline that names it, whatever its parameters are called', () => {
    const { routes } = check(
      aliases,
      pipeline('a', 'GET /v1/a/:id', 'GET /v1/b'),
      pipeline('mine', 'GET /a/:name', 'POST /b'),
    )
    expect(routes).to.deep.equal([
      ['GET /v1/a/:id', 'GET /v1/b', 'GET /v1/v1/a/:id +', 'GET /b +', 'GET /v1/v1/b +'],
      ['GET /a/:name', 'POST /b'],
    ])
  })

  it('that no route begins with are told, and refuse nothing', () => {
    const { warnings } = check('aliases: { /v1/: [/], /v2/: [/x/], /b/: [/c/] }', pipeline('a', 'GET /v1/a', 'GET /v2'))
    expect(warnings).to.deep.equal([
      '0.yaml:1:23: warning: no route begins with "/v2/" [unused-alias]',
      '0.yaml:1:36: warning: no route begins with "/b/" [unused-alias]',
    ])
    expect(check(aliases, pipeline('a', 'GET /v1/a', 'GET /a')).warnings).to.deep.equal([])
  })

  it('have none of their own', () => {
    const { routes } = check(aliases, pipeline('a', 'GET /v1/a', 'GET /a', 'GET /v1/v1/a'))
    expect(routes).to.deep.equal([['GET /v1/a', 'GET /a', 'GET /v1/v1/a']])
  })

  it('add no route that begins with a parameter or with every path', () => {
    const { routes } = check(aliases, pipeline('a', 'GET /v1/*', 'GET /v1/:a/b', 'GET /v1/c/*'))
    expect(routes[0]?.slice(3)).to.deep.equal(['GET /c/* +', 'GET /v1/v1/c/* +'])
  })

  it('are told once what is wrong with a beginning', () => {
    expect(check('aliases: { v1: [/x/] }').diagnostics).to.have.length(1)
  })

  it('stand beside endpoints, and are checked', () => {
    const both = `${aliases}\nendpoints: [{ name: a, summary: A., public: true, routes: [GET /v1/a], stages: [answer] }]`
    expect(check(both).routes[0]).to.have.length(3)
    const wrong = check('aliases: { v1: [/x] }\nstages: []').diagnostics.join('\n')
    expect(wrong).to.include('must begin and end with "/"').and.include('unknown field "stages" beside "aliases"')
  })
})
