import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Json } from '../../form/schema.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Difference } from '../../parts/Difference.tsx'
import { Status } from '../../parts/Status.tsx'
import { toast, toastError } from '../../parts/toast.tsx'
import { approve, capabilities, status } from './api.ts'
import type { Security, Tool } from './api.ts'
import { words } from './words.ts'
import classes from './mcp-servers.module.css'

interface ChangedToolsProps {
  readonly server: string
  readonly tools: readonly Tool[]
  readonly mode: Security['tool_changes']
}

/** Tools that are not what was approved: what each was and is, and a way to approve it as it is. */
export function ChangedTools({ server, tools, mode }: ChangedToolsProps) {
  const queries = useQueryClient()
  const approval = useMutation({
    mutationFn: (names: readonly string[]) => approve(server, names),
    onSuccess(found, names) {
      queries.setQueryData(capabilities(server).queryKey, found)
      void queries.invalidateQueries({ queryKey: status(server).queryKey })
      toast(words.approvedNow(names.length))
    },
    onError: toastError,
  })
  const asked = approval.isPending ? approval.variables : []
  const button = (label: string, names: readonly string[], what?: string) => (
    <Button
      small
      look="primary"
      icon="check"
      busy={names.length === asked.length && names.every((name) => asked.includes(name))}
      aria-label={what}
      onClick={() => approval.mutate(names)}
    >
      {label}
    </Button>
  )
  return (
    <Card
      title={words.changedTitle(tools.length)}
      note={words.changedNote[mode]}
      actions={
        tools.length > 1 &&
        button(
          words.approveAll,
          tools.map(({ name }) => name),
        )
      }
    >
      <ul className={classes.changed}>
        {tools.map((tool) => (
          <li key={tool.name}>
            <div className={classes.changedHead}>
              <Status state="warning">
                <code>{tool.name}</code>
              </Status>
              {button(words.approve, [tool.name], words.approveNamed(tool.name))}
            </div>
            {tool.was ? (
              <Difference changes={changesOf(tool, tool.was)} />
            ) : (
              <>
                <p className={classes.secondary}>{words.notKept}</p>
                <p className={classes.text}>{tool.description ?? words.noDescription}</p>
              </>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** What differs of a tool, with texts in lines. */
function changesOf(now: Tool, was: NonNullable<Tool['was']>) {
  const printed = (value: Json) => JSON.stringify(value, null, 2)
  const fields = [
    { name: words.descriptionField, from: was.description, to: now.description },
    { name: words.schemaField, from: printed(was.input_schema), to: printed(now.input_schema) },
  ]
  return Object.fromEntries(
    fields.filter(({ from, to }) => from !== to).map(({ name, from, to }) => [name, { from, to }]),
  )
}
