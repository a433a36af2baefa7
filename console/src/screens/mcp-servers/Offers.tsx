import { useQuery } from '@tanstack/react-query'
import type { Json } from '../../form/schema.ts'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Table } from '../../parts/Table.tsx'
import { capabilities } from './api.ts'
import type { Offer } from './api.ts'
import { words } from './words.ts'
import classes from './mcp-servers.module.css'

/** The resources, templates and prompts that a server offers now. */
export function Offers({ name }: { readonly name: string }) {
  return (
    <Loaded query={useQuery(capabilities(name))} height={320}>
      {({ resources, resource_templates: templates, prompts }) => (
        <div className={classes.stack}>
          <List title={words.resources} offers={resources} empty={words.noResources} />
          <List title={words.templates} offers={templates} empty={words.noTemplates} />
          <List title={words.prompts} offers={prompts} empty={words.noPrompts} />
        </div>
      )}
    </Loaded>
  )
}

interface ListProps {
  readonly title: string
  readonly offers: readonly Offer[]
  readonly empty: string
}

function List({ title, offers, empty }: ListProps) {
  const rows = offers.map((offer, at) => ({ offer, id: String(at) }))
  return (
    <Card title={title}>
      {rows.length === 0 ? (
        <Empty text={empty} />
      ) : (
        <Table
          caption={title}
          rows={rows}
          idOf={({ id }) => id}
          columns={[
            column('name', ({ name, title: own }) => name ?? own),
            ...(title === words.prompts ? [] : [column('uri', ({ uri, uriTemplate }) => uri ?? uriTemplate)]),
            column('description', ({ description }) => description),
          ]}
        />
      )}
    </Card>
  )
}

function column(name: keyof typeof words.offers, of: (offer: Offer) => Json | undefined) {
  // A server may say anything.
  const text = ({ offer }: { readonly offer: Offer }) => {
    const value = of(offer) ?? ''
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
  return { name, label: words.offers[name], cell: text, text }
}
