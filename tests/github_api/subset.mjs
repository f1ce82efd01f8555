// node subset.mjs node_modules/@octokit/openapi/generated/api.github.com.json | xz -9e > description.json.xz
import fs from 'node:fs'
const all = JSON.parse(fs.readFileSync(process.argv[2]))
const repository = '/repos/{owner}/{repo}'
const keep = new RegExp('^(' + [
  '/actions/artifacts(/\\{artifact_id\\}(/\\{archive_format\\})?)?',
  '/actions/runs(/\\{run_id\\}(/(artifacts|jobs))?)?',
  '/check-runs(/\\{check_run_id\\}(/annotations)?)?',
  '/collaborators/\\{username\\}/permission',
  '/commits/\\{ref\\}/(check-runs|status)',
  '/commits/\\{commit_sha\\}/pulls',
  '/issues(/\\{issue_number\\}(/comments)?)?',
  '/issues/comments(/\\{comment_id\\})?',
  '/pulls(/\\{pull_number\\}(/files)?)?',
  '/statuses/\\{sha\\}',
].join('|') + ')$')
const paths = {}
for (const path in all.paths) if (path.startsWith(repository) && keep.test(path.slice(repository.length))) paths[path] = all.paths[path]
const used = new Set()
const walk = node => {
  if (!node || typeof node !== 'object') return
  if (typeof node.$ref === 'string' && !used.has(node.$ref)) {
    used.add(node.$ref)
    walk(node.$ref.slice(2).split('/').reduce((found, part) => found?.[part], all))
  }
  for (const value of Object.values(node)) walk(value)
}
walk(paths)
const components = {}
for (const ref of [...used].sort()) { const [, kind, name] = ref.slice(2).split('/'); (components[kind] ??= {})[name] = all.components[kind][name] }
process.stdout.write(JSON.stringify({ openapi: all.openapi, info: all.info, servers: all.servers, paths, components }))
