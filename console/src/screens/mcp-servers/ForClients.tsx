import { ButtonLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { words } from './words.ts'
import classes from './mcp-servers.module.css'

/** What clients paste: the address of the server behind the gateway, and the command of one of them. */
export function ForClients({ name }: { readonly name: string }) {
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
