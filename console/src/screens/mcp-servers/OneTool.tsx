import { useAddress } from '../../parts/search.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Empty } from '../../parts/Empty.tsx'
import type { Tool } from './api.ts'
import { words } from './words.ts'
import classes from './mcp-servers.module.css'

/** What models read of a tool. All of it comes from the server, and is text. */
export function OneTool({ name, tool }: { readonly name: string; readonly tool: Tool | undefined }) {
  const [, change] = useAddress()
  return (
    <Card
      title={name}
      actions={
        <Button
          look="quiet"
          small
          icon="close"
          aria-label={words.closeTool}
          onClick={() => change({ tool: undefined }, { push: true })}
        />
      }
    >
      {tool ? (
        <div className={classes.stack}>
          <div>
            <h3>{words.description}</h3>
            <p className={classes.text}>{tool.description ?? words.noDescription}</p>
          </div>
          <div>
            <h3>{words.inputSchema}</h3>
            <pre className={classes.json}>{JSON.stringify(tool.input_schema, null, 2)}</pre>
          </div>
          <div>
            <h3>{words.hash}</h3>
            <div className={classes.paste}>
              <code>{tool.hash}</code>
              <CopyButton text={tool.hash} what={words.copyHash} />
            </div>
          </div>
        </div>
      ) : (
        <Empty text={words.gone(name)} />
      )}
    </Card>
  )
}
