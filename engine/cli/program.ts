import { Argument, Command, Option } from 'commander'
import { defaultConfigFile } from '../config/shipped.ts'
import { productVersion } from '../version.ts'
import { kinds } from './kinds.ts'
import type { NewKind } from './new.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

/**
 * The commands with their arguments and options. A command's code is loaded when it runs, because `serve` must start
 * fast.
 * @param exit called with the exit code of the command
 */
export function makeProgram(terminal: Terminal, exit: (code: number) => void): Command {
  const program = new Command('sluice')
    .description('A model gateway whose every endpoint is a YAML pipeline you can read, check and change.')
    .version(productVersion(), '--version', 'Print the version.')
    .helpOption('-h, --help', 'Explain the program or a command.')
    .helpCommand('help [command]', 'Explain a command.')
    .option('--config <file>', 'The configuration file.', terminal.environment['SLUICE_CONFIG'] || defaultConfigFile)
    .option('--json', 'Print JSON.', false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.error(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error: /, 'sluice: ')),
    })
    .exitOverride()

  /** An action that gets the arguments and the merged options. */
  const runs = <A extends unknown[], O extends CommonOptions>(action: (options: O, ...words: A) => Promise<number>) =>
    async function (this: Command, ...given: unknown[]): Promise<void> {
      exit(await action(this.optsWithGlobals<O>(), ...(given.slice(0, -2) as A)))
    }

  program
    .command('serve')
    .description('Serve the pipelines; the command that runs when none is named.')
    .option('--no-watch', 'Reload only on SIGHUP, not when the configuration, a plugin or a pipeline changes.')
    .addOption(new Option('--watch', 'Reload when one of them changes: the default.').default(true).hideHelp())
    .action(
      runs(async (options: CommonOptions & { watch: boolean }) =>
        (await import('./serve.ts')).serve(options, terminal),
      ),
    )

  program
    .command('health')
    .description('Ask the running gateway whether it accepts requests: exit code 0 if it does, otherwise 1.')
    .option('--url <url>', 'Its address; absent: HOST and PORT, or "listen" of the configuration.')
    .option('--timeout <time>', 'How long to wait for its answer.', '3s')
    .action(
      runs(async (options: CommonOptions & { url?: string; timeout: string }) =>
        (await import('./health.ts')).health(options, terminal),
      ),
    )

  program
    .command('check')
    .description('Check the configuration, the plugins and the pipelines.')
    .argument(
      '[files...]',
      'Pipelines, configurations, fixtures, or Markdown files with YAML blocks; absent: everything.',
    )
    .option('--strict', 'Fail on warnings, too.')
    .action(
      runs(async (options: CommonOptions & { readonly strict?: boolean }, files: string[]) =>
        (await import('./check.ts')).check({ ...options, files }, terminal),
      ),
    )

  program
    .command('init')
    .description('Write a configuration with the providers whose keys are in the environment.')
    .action(runs(async (options: CommonOptions) => (await import('./init.ts')).init(options, terminal)))

  program
    .command('explain')
    .description('Show what a pipeline does, or what a code means.')
    .usage('[options] <pipeline or code>\n       sluice explain [options] code <code>')
    .argument('<pipeline>', 'Name of a pipeline, a code, or the word code.')
    .argument('[code]', 'Code of an error or of a finding.')
    .action(
      runs(async (options, pipeline: string, code?: string) => {
        const commands = await import('./explain.ts')
        if (pipeline === 'code' && code !== undefined) return commands.explainCode({ ...options, code }, terminal)
        return commands.explainPipeline({ ...options, pipeline }, terminal)
      }),
    )

  program
    .command('list')
    .description(`List ${kinds.slice(0, -1).join(', ')} and ${kinds.at(-1)}, or describe one.`)
    .addArgument(new Argument('[kind]', 'What to list.').choices(kinds))
    .argument('[name]', 'The one to describe.')
    .option('--markdown', 'Print the reference.', false)
    .option('--out <folder>', 'Write the reference into a folder, one page per kind.')
    .action(
      runs(async (options: CommonOptions & { markdown: boolean; out?: string }, kind?: string, name?: string) =>
        (await import('./list.ts')).list({ ...options, kind, name }, terminal, makeProgram),
      ),
    )

  program
    .command('schema')
    .description('Write the JSON Schemas for editors and the example configuration.')
    .option('--out <folder>', 'The folder to write into.', 'config')
    .option('--openapi', 'Print the OpenAPI document of the admin API and of the inference routes instead.')
    .action(
      runs(async (options: CommonOptions & { out: string; openapi?: true }) =>
        (await import('./schema.ts')).schema(options, terminal),
      ),
    )

  program
    .command('test')
    .description('Run pipeline fixtures against scripted upstreams, or the conformance suite on a provider.')
    .argument('[files...]', 'Fixtures; absent: every *.test.yaml of the pipelines, the shipped ones too.')
    .option('--provider <type>', 'Check instead that providers of this type behave as the gateway expects.')
    .action(
      runs(async (options: CommonOptions & { provider?: string }, files: string[]) =>
        (await import('./test.ts')).test({ ...options, files }, terminal),
      ),
    )

  program
    .command('new')
    .description(
      'Write a provider, a stage, a service or a plugin with a test to begin with, or a shipped pipeline to change.',
    )
    .addArgument(
      new Argument('<kind>', 'What to write.').choices(['provider', 'stage', 'service', 'plugin', 'pipeline']),
    )
    .argument('<name>', 'Its name in YAML; for a pipeline, the name of its shipped file.')
    .option(
      '--out <file>',
      'The file to write; absent: ./plugins/<name>.ts, ./plugins/<name>/index.ts or ./pipelines/<name>.yaml.',
    )
    .action(
      runs(async (options: CommonOptions & { out?: string }, kind: NewKind, name: string) =>
        (await import('./new.ts')).create({ ...options, kind, name }, terminal),
      ),
    )

  program
    .command('secret')
    .description('The master secret, which seals what is stored.')
    .command('rotate')
    .description('Make a new master secret, and seal anew everything that is stored; sessions end.')
    .action(runs(async (options: CommonOptions) => (await import('./rotate-secret.ts')).rotate(options, terminal)))

  program
    .command('export')
    .description('What a gateway has in its file and its database.')
    .command('config')
    .description(
      'Print the configuration file together with the stored records, as one file with secrets as variables.',
    )
    .option('--out <folder>', 'Write the file into a folder, and the secrets into .env there.')
    .option('--force', 'Replace files that exist.')
    .action(
      runs(async (options: CommonOptions & { readonly out?: string; readonly force?: true }) =>
        (await import('./export-config.ts')).exportConfig(options, terminal),
      ),
    )

  return program
}
