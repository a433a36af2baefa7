import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { toldCodes } from '../../engine/cli/codes.ts'
import { outcomes, tokenTypes } from '../../plugins/telemetry/gateway-instruments.ts'
import { registry } from '../rules/registry.ts'
import { root } from '../rules/sources.ts'
import { chatAnswer, chatFrames } from '../service/streams.ts'
import { startAdmin } from '../support/admin.ts'
import { result, speaking } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import { seriesIn, valueIn } from './exposition.ts'
import type { Series } from './exposition.ts'
import { fits, selectorsIn } from './promql.ts'

interface Variable {
  readonly type: string
  readonly name: string
  readonly query: string | { readonly query: string }
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource?: { readonly uid: string }
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Dashboard {
  readonly uid: string
  readonly schemaVersion: number
  readonly templating: { readonly list: readonly Variable[] }
  readonly panels: readonly Panel[]
}

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}

const read = (name: string) => readFileSync(join(root, name), 'utf8')
const dashboard = JSON.parse(read('deploy/grafana/sluice.json')) as Dashboard
const { groups } = parse(read('deploy/prometheus/rules.yaml')) as { groups: { rules: Alert[] }[] }
const alerts = groups.flatMap(({ rules }) => rules)
const variables = dashboard.templating.list

/** A query as Grafana sends it, where everything is chosen. */
const filledIn = (query: string) =>
  variables
    .filter(({ type }) => type !== 'datasource')
    .reduce(
      (text, { type, name, query: own }) =>
        text.replaceAll(`"$${name}"`, `"${type === 'constant' ? (own as string) : '.*'}"`),
      query.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h'),
    )

/** What fills the variables, as PromQL: `label_values` is a word of Grafana's. */
const fillings = variables.flatMap(({ query }) => {
  if (typeof query === 'string') return []
  const [, selector = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(query.query) ?? []
  return [filledIn(`group by (${label}) (${selector})`)]
})

/** The queries of both files, each with the texts that name labels of what comes out. */
const queries = [
  ...dashboard.panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({ expr: filledIn(expr), texts: [legendFormat] })),
  ),
  ...fillings.map((expr) => ({ expr, texts: [] })),
  ...alerts.map(({ expr, annotations }) => ({ expr, texts: Object.values(annotations) })),
]

const messages = [{ role: 'user', content: 'Hello' }]
const rated = 'sk-rated-0123456789abcdef0123456789abcdef'

/** What a gateway answers to a scrape after it has done everything once, well and badly. */
async function scrapeOfAll(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-files-'))
  const upstream = await scriptedUpstream()
  const chosen = { provider: 'far', auto_eligible: true, context_length: 100_000, routing_assignments: ['auto'] }
  const gateway = await startAdmin({
    folder,
    server_config: {
      resilience: { retries: { wait: '1ms' }, breaker: { failures: 2 } },
      smart_routing: { enabled: true, baseline_model: 'dear', graceful_degradation: true },
      telemetry: { metrics: { access: 'open' } },
    },
    providers: [
      { name: 'far', type: 'compatible', base_url: upstream.url },
      { name: 'near', type: 'echo' },
    ],
    models: [
      { ...chosen, name: 'cheap', quality_tier: 'economy', pricing: { input: 1, output: 1 } },
      { ...chosen, name: 'dear', quality_tier: 'premium', pricing: { input: 100, output: 100 } },
      { name: 'unpriced', provider: 'far', fallbacks: ['spare'] },
      { name: 'spare', provider: 'near' },
    ],
    records: {
      guards: [{ name: 'polite', kind: 'words', words: ['confounded'], side: ['input', 'output'] }],
      mcp_servers: [{ name: 'docs', transport: 'http', url: `${upstream.url}/docs` }],
    },
    key_fields: { mcp_servers: ['docs'] },
    api_keys: [{ name: 'rated', key: rated, rate_limit: { requests: 1, period: '30d' } }],
  })
  const scrape = async () => (await fetch(`${gateway.url}/metrics`)).text()
  const ask = async (model: string, more: object = {}, headers: Record<string, string> = {}) => {
    const answer = await gateway.post('/v1/chat/completions', { model, messages, ...more }, headers)
    await answer.text()
    return answer.status
  }
  const tell = async (method: string, params: object = {}, session?: string) => {
    const headers = {
      accept: 'application/json, text/event-stream',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    }
    const answer = await gateway.post('/servers/docs/mcp', { jsonrpc: '2.0', id: 1, method, params }, headers)
    await answer.text()
    return answer
  }
  try {
    const details = {
      prompt_tokens_details: { cached_tokens: 3, audio_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 1 },
    }
    upstream.answer({ body: { ...chatAnswer, usage: { ...chatAnswer.usage, ...details } } })
    expect(await ask('cheap')).to.equal(200)
    expect(await ask('auto')).to.equal(200)
    // No model is assigned to this mode.
    expect(await ask('fast')).to.equal(200)
    expect(await ask('unpriced')).to.equal(200)
    const headers = { authorization: `Bearer ${rated}` }
    expect([await ask('cheap', {}, headers), await ask('cheap', {}, headers)]).to.deep.equal([200, 429])
    upstream.answer({ frames: chatFrames('Hel', 'lo') })
    expect(await ask('cheap', { stream: true })).to.equal(200)

    upstream.answer(
      speaking(({ id, method }) => (method === 'tools/list' ? result(id, { tools: [] }) : { status: 503 })),
    )
    const session = (await tell('initialize')).headers.get('mcp-session-id') ?? ''
    expect((await tell('tools/list', {}, session)).status).to.equal(200)
    await tell('tools/call', { name: 'dig', arguments: {} }, session)

    upstream.answer({ status: 503, body: { error: { message: 'no room' } } })
    expect(await ask('unpriced')).to.equal(200)
    expect(await ask('cheap')).to.equal(502)

    expect((await gateway.asAdmin('POST /api/config/reload', {})).status).to.equal(200)
    await writeFile(join(folder, 'sluice.yaml'), 'nothing: of the kind')
    expect((await gateway.asAdmin('POST /api/config/reload', {})).status).to.equal(422)

    await gateway.engine.flush()
    // A client has its answer before the gateway is done with it.
    await until(async () => valueIn(await scrape(), 'sluice_in_flight') === 0)
    return await scrape()
  } finally {
    await gateway.close()
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  }
}

describe('the dashboard and the alerts', () => {
  let scraped: string
  /** The series as Prometheus keeps them, which adds where they come from, and one of its own. */
  let series: Pick<Series, 'name' | 'labels'>[]
  /** What may stand in a label whose values a query lists. */
  let words: Readonly<Record<string, readonly string[]>>
  before(async () => {
    scraped = await scrapeOfAll()
    const place = { job: 'sluice', instance: 'sluice:8080' }
    series = [
      { name: 'up', labels: place },
      ...seriesIn(scraped).map(({ name, labels }) => ({ name, labels: { ...labels, ...place } })),
    ]
    words = {
      code: ['ok', 'client_closed', 'other', ...toldCodes(await registry()).map(({ code }) => code)],
      outcome: outcomes,
      type: tokenTypes,
    }
  })

  const labelsOf = (metric: string) =>
    series.filter(({ name }) => name === metric).map(({ labels }) => Object.keys(labels))

  /** What a query asks for that is not there. */
  const missingIn = (expr: string): string[] =>
    selectorsIn(expr).flatMap((selector) => {
      const { metric, matchers, grouped } = selector
      const own = labelsOf(metric)
      if (own.length === 0) return [`no metric ${metric}`]
      const labels = new Set([...matchers.map(({ label }) => label), ...grouped])
      const strange = [...labels].filter((label) => !own.some((names) => names.includes(label)))
      if (strange.length > 0) return strange.map((label) => `${metric} has no label ${label}`)
      const unknown = matchers
        .filter(({ operator, value }) => operator.endsWith('~') && value !== '.*')
        .flatMap(({ label, value }) =>
          value
            .split('|')
            .filter((word) => !words[label]?.includes(word))
            .map((word) => `${label} of ${metric} is never ${word}`),
        )
      if (unknown.length > 0) return unknown
      const found = series.some(
        ({ name, labels: told }) =>
          name === metric && matchers.every((matcher) => fits(matcher, told[matcher.label] ?? '')),
      )
      return found ? [] : [`no series of ${metric} fits ${JSON.stringify(matchers)}`]
    })

  it('ask only for metrics, labels and values that a scrape has', () => {
    expect(queries).to.have.length.above(80)
    const wrong = queries.flatMap(({ expr }) => missingIn(expr).map((problem) => `${problem}: ${expr}`))
    expect(wrong).to.deep.equal([])
  })

  it('would not ask in vain', () => {
    expect(missingIn('rate(sluice_request_total[5m])')).to.deep.equal(['no metric sluice_request_total'])
    expect(missingIn('sum by (key) (sluice_requests_total)')).to.deep.equal(['sluice_requests_total has no label key'])
    expect(missingIn('sluice_requests_total{pipe="x"}')).to.deep.equal(['sluice_requests_total has no label pipe'])
    expect(missingIn('sluice_requests_total{code=~"ok|upstrem_error"}')).to.deep.equal([
      'code of sluice_requests_total is never upstrem_error',
    ])
    expect(missingIn('sluice_store_up{store="attic"}')).to.have.length(1)
    expect(missingIn('histogram_quantile(0.5, sum by (le) (rate(sluice_overhead_seconds_bucket[5m])))')).to.deep.equal(
      [],
    )
    expect(() => missingIn('sum by (le) rate(sluice_requests_total[5m])')).to.throw('no PromQL at character')
  })

  it('name in texts only labels that are left of what they ask for', () => {
    const wrong = queries.flatMap(({ expr, texts }) => {
      const selectors = selectorsIn(expr)
      const grouped = selectors.flatMap((selector) => selector.grouped)
      // What adds series up keeps the labels by which it groups them; anything else keeps all.
      const left = new Set(
        /\bby \(|\bsum\(/.test(expr) ? grouped : selectors.flatMap(({ metric }) => labelsOf(metric)).flat(),
      )
      const named = texts.flatMap((text) =>
        [...text.matchAll(/\{\{ ?(?:\$labels\.)?(\w+)\b/g)].map(([, label = '']) => label),
      )
      return named.filter((label) => !left.has(label)).map((label) => `{{${label}}}: ${expr}`)
    })
    expect(wrong).to.deep.equal([])
  })

  it('count as failures the codes of answers with a status of 500 and above', async () => {
    const codes = toldCodes(await registry()).filter(({ status }) => status >= 500)
    const failures = [...codes.map(({ code }) => code), 'other'].sort()
    expect(variables.find(({ name }) => name === 'failed')?.query).to.equal(failures.join('|'))
    expect(alerts.find(({ alert }) => alert === 'SluiceErrors')?.expr).to.contain(`code=~"${failures.join('|')}"`)
  })

  describe('the dashboard', () => {
    it('has an address, rows, and a choice of the data source', () => {
      expect(dashboard.uid).to.equal('sluice')
      expect(variables[0]).to.include({ type: 'datasource', name: 'datasource', query: 'prometheus' })
      expect(dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)).to.deep.equal([
        'Traffic',
        'Latency',
        'Tokens and money',
        'Providers',
        'Limits',
        'Routing',
        'MCP',
        'Guards',
        'Process',
      ])
    })

    it('has panels with a title, a unit and a place of their own', () => {
      const panels = dashboard.panels.filter(({ type }) => type !== 'row')
      const titles = panels.map(({ title }) => title)
      expect(titles).to.not.include('')
      expect(panels.filter(({ fieldConfig }) => fieldConfig?.defaults.unit === undefined)).to.deep.equal([])
      expect(panels.filter(({ datasource }) => datasource?.uid !== '${datasource}')).to.deep.equal([])
      expect(new Set(dashboard.panels.map(({ id }) => id)).size).to.equal(dashboard.panels.length)
      const squares = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
      )
      expect(new Set(squares).size).to.equal(squares.length)
      expect(dashboard.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).to.deep.equal([])
    })

    it('shows every metric of the gateway', () => {
      const shown = new Set(
        dashboard.panels
          .flatMap(({ targets = [] }) => targets)
          .flatMap(({ expr }) => selectorsIn(filledIn(expr)))
          .map(({ metric }) => metric.replace(/_(bucket|sum|count)$/, '')),
      )
      const told = [...scraped.matchAll(/^# TYPE (sluice_\S+)/gm)].map(([, name = '']) => name)
      expect(told).to.have.length.of.at.least(30)
      expect(told.filter((name) => !shown.has(name))).to.deep.equal([])
    })
  })

  describe('the alerts', () => {
    it('each say how bad it is, what it is, and after how long it is told', () => {
      expect(alerts).to.have.length.of.at.least(10)
      expect(new Set(alerts.map(({ alert }) => alert)).size).to.equal(alerts.length)
      for (const { alert, for: after, labels, annotations } of alerts) {
        expect(alert).to.match(/^Sluice[A-Z]\w+$/)
        expect(after, alert).to.match(/^\d+m$/)
        expect(labels.severity, alert).to.be.oneOf(['critical', 'warning', 'info'])
        expect(annotations.summary, alert).to.match(/^[A-Z].*[^.]$/)
        expect(annotations.description, alert).to.match(/\.$/)
      }
    })

    it('are those that the docs explain', () => {
      const explained = [...read('docs/telemetry.md').matchAll(/^\| `(Sluice\w+)` \|/gm)].map(([, name]) => name)
      expect(explained).to.deep.equal(alerts.map(({ alert }) => alert))
    })
  })
})
