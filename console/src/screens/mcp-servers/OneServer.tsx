import { useQuery } from '@tanstack/react-query'
import { ButtonLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { Tabs, useTab } from '../../parts/Tabs.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { Actions } from './Actions.tsx'
import { server as one, status } from './api.ts'
import { Facts } from './Facts.tsx'
import { Offers } from './Offers.tsx'
import { ServerSettings } from './ServerSettings.tsx'
import { State } from './State.tsx'
import { Tools } from './Tools.tsx'
import { words } from './words.ts'
import classes from './mcp-servers.module.css'

const names = ['tools', 'offers', 'settings'] as const
const tabs = names.map((value) => ({ value, label: words.tab[value] }))

/** One server: how it is, what clients paste, its tools and whether they are what was approved, its settings. */
export function OneServer({ name }: { readonly name: string }) {
  const query = useQuery(one(name))
  const { data: known } = useQuery(status(name))
  const [tab, choose] = useTab(names)
  return (
    <Page
      title={name}
      aside={
        query.data && (
          <>
            {query.data.transport && <Tag>{words.transports[query.data.transport]}</Tag>}
            {query.data.source === 'file' && <Tag>{words.inFile}</Tag>}
            {known && <State state={known.state} />}
          </>
        )
      }
      actions={query.data && <Actions server={query.data} />}
    >
      <Loaded query={query} height={420}>
        {(server) => (
          <>
            <div className={classes.top}>
              <Facts name={name} />
              <ForClients name={name} />
            </div>
            <Tabs label={words.tabs} tabs={tabs} value={tab} onChange={choose}>
              {tab === 'tools' && <Tools server={server} />}
              {tab === 'offers' && <Offers name={name} />}
              {tab === 'settings' && <ServerSettings server={server} reload={query.refetch} />}
            </Tabs>
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** What clients paste: the address of the server behind the gateway, and the command of one of them. */
function ForClients({ name }: { readonly name: string }) {
  const address = `${location.origin}/servers/${encodeURIComponent(name)}/mcp`
  const command = words.claudeCommand(name, address)
  return (
    <Card
      title={words.clients}
      actions={
        <ButtonLink to="/quick-start" search={{ client: 'mcp' }} look="quiet" small icon="quick-start">
          {words.otherClients}
        </ButtonLink>
      }
    >
      <p className={classes.secondary}>{words.clientsText}</p>
      <dl className={classes.facts}>
        <dt>{words.address}</dt>
        <dd className={classes.paste}>
          <code>{address}</code>
          <CopyButton text={address} what={words.copyAddress} />
        </dd>
        <dt>{words.claude}</dt>
        <dd className={classes.paste}>
          <code>{command}</code>
          <CopyButton text={command} what={words.copyCommand} />
        </dd>
      </dl>
    </Card>
  )
}
