import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/ScrollArea.layer.css'
import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { oneOf, useAddress } from '../../parts/search.ts'
import { isServed, models } from '../../catalog/models.ts'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { useOneOf } from '../../parts/useOneOf.ts'
import { clients, keyVariable } from '../../quick-start/index.ts'
import type { Client } from '../../quick-start/index.ts'
import classes from './quick-start.module.css'

const words = {
  title: 'Quick start',
  intro: 'Each text is a file to paste. The key is read from the environment, so it stands in none of them.',
  model: 'Model',
  client: 'Client',
  key: 'The API key',
  keyText: 'Make one under API keys, or in the playground.',
  install: 'Install',
  shell: 'In a shell',
  check: 'Check',
  paste: (path: string) => `Put into ${path}`,
} as const

/** What to paste where, for each client; the same texts are tried by the tests of the clients. */
export default function QuickStart() {
  const query = useQuery(models)
  return (
    <Page title={words.title}>
      <p className={classes.intro}>{words.intro}</p>
      <Loaded query={query} height={420}>
        {(all) => <Choice models={all.filter(isServed).map(({ name }) => name)} />}
      </Loaded>
    </Page>
  )
}

function Choice({ models: names }: { readonly models: readonly string[] }) {
  const [search] = useAddress()
  const wanted = oneOf(search, 'client')
  const usual = names.includes('auto') ? 'auto' : (names[0] ?? 'auto')
  // The texts are pasted into shells: a link may choose among the models, and put no other words there.
  const [model, choose] = useOneOf('model', names, usual)
  const asked = model === usual ? {} : { model }
  const client = clients.find(({ id }) => id === wanted) ?? clients[0]
  return (
    <div className={classes.columns}>
      <Card className={classes.choice}>
        <Select
          label={words.model}
          data={[...new Set([model, ...names])]}
          value={model}
          searchable
          allowDeselect={false}
          onChange={(name) => choose(name ?? usual)}
        />
        <nav aria-label={words.client} className={classes.list}>
          {clients.map(({ id, title }) => (
            <Link
              key={id}
              to="/quick-start"
              search={{ ...asked, ...(id === clients[0]?.id ? {} : { client: id }) }}
              activeOptions={{ exact: true, includeSearch: true }}
            >
              {title}
            </Link>
          ))}
        </nav>
      </Card>
      {client && <Texts {...client} model={model} />}
    </div>
  )
}

function Texts({ install, pastes, check, model }: Client & { readonly model: string }) {
  const place = { origin: location.origin, model }
  return (
    <div className={classes.texts}>
      <Text title={words.key} note={words.keyText} text={`export ${keyVariable}="…"`} />
      {install !== null && <Text title={words.install} text={install} />}
      {pastes.map(({ path, text }) => (
        <Text key={path} title={path === null ? words.shell : words.paste(path)} text={text(place)} />
      ))}
      <Text title={words.check} text={check(place)} />
    </div>
  )
}

function Text({ title, note, text }: { readonly title: string; readonly note?: string; readonly text: string }) {
  return (
    <Card title={title} note={note} actions={<CopyButton text={text} what={title} />}>
      <pre className={classes.text} tabIndex={0}>
        {text}
      </pre>
    </Card>
  )
}
