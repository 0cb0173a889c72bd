# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_extenddb_admin_global_optspecs
    string join \n o/output= progress= color= v/verbose q/quiet y/yes no-input lock-timeout= url= data-url= server-config= deployment= config= store= h/help V/version
end

function __fish_extenddb_admin_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_extenddb_admin_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_extenddb_admin_using_subcommand
    set -l cmd (__fish_extenddb_admin_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -s V -l version -d 'Print version'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "migrate" -d 'Bring the catalog to another version, with proof'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "check" -d 'Check in one go that the deployment is as it should be'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "schema" -d 'Print and compare schemas of catalogs'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "golden" -d 'Build the golden schemas again, and compare or rewrite them'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "backup" -d 'Create, list, verify, delete and restore backups'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "job" -d 'List and show recorded jobs'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "table" -d 'List, describe and digest tables'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "store" -d 'List, check and initialise stores'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "config" -d 'Show and check the configuration'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "demo" -d 'Take a throw-away SQLite deployment through the main job'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "completions" -d 'Print a completion script'
complete -c extenddb-admin -n "__fish_extenddb_admin_needs_command" -f -a "man" -d 'Print the man page, or write all of them'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l to -d 'Stop at this catalog version' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l dump-to -d 'Write a checked dump of the catalog into this folder first' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l statement-timeout -d 'End a statement that runs longer' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l dry-run -d 'Show the plan; the database is told to refuse writes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l allow-live -d 'Go on although servers are connected'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l accept-inferred -d 'Cross a version whose upstream body is only inferred'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -f -a "up" -d 'Apply what is pending; the same as without a command'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -f -a "plan" -d 'Show each step that would run, with its lock and its cost'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -f -a "down" -d 'Take the newest version back, where that loses nothing that matters'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -f -a "status" -d 'Say which version every lineage is at, what is pending and what is wrong'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -f -a "verify" -d 'Compare the live catalog with its golden schema'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -f -a "history" -d 'List what was applied, by whom and when'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -f -a "repair" -d 'Bring a drifted catalog back where that cannot lose data'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -f -a "rehearse" -d 'Run the migration on a scratch copy first, timed'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and not __fish_seen_subcommand_from up plan down status verify history repair rehearse adopt" -f -a "adopt" -d 'Write into our ledger what a catalog already has, if it is exactly a released version'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l to -d 'Stop at this catalog version' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l dump-to -d 'Write a checked dump of the catalog into this folder first' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l statement-timeout -d 'End a statement that runs longer' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l dry-run -d 'Show the plan; the database is told to refuse writes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l allow-live -d 'Go on although servers are connected'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l accept-inferred -d 'Cross a version whose upstream body is only inferred'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from up" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l to -d 'Stop at this catalog version' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l allow-live -d 'Go on although servers are connected'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from down" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l accept -d 'Record that the body of this applied migration was changed on purpose' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l dry-run -d 'Show what would be done; the database is told to refuse writes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from repair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l to -d 'Stop at this catalog version' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l scratch -d 'Make the scratch copy on this server instead of the catalog\'s own' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from rehearse" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand migrate; and __fish_seen_subcommand_from adopt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l expect -d 'Require this catalog version' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l allow-pending -d 'Let pending migrations pass'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -f -a "dump" -d 'Print the canonical schema of the deployment, or the golden one of a version'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and not __fish_seen_subcommand_from dump diff" -f -a "diff" -d 'Compare two schemas; the first one is what is expected'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l version -d 'Print the golden schema of this version, or of a variant of it (0.0.2-a)' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l lineage -d 'Lineage: catalog, data (the fixed tables of PostgreSQL\'s data database) or admin (our own tables)' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l backend -d 'Backend of golden schemas [default: that of the deployment]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from dump" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l format -d 'Write the differences so; `sql` gives comments that a reviewer can read' -r -f -a "text\t'Lines for people'
sql\t'SQL comments for a review'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l lineage -d 'Lineage: catalog, data (the fixed tables of PostgreSQL\'s data database) or admin (our own tables)' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l backend -d 'Backend of golden schemas [default: that of the deployment]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand schema; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -f -a "check" -d 'Build every version in a scratch database and compare it with its golden schema'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and not __fish_seen_subcommand_from check bless" -f -a "bless" -d 'Build every version in a scratch database and write its schema into the golden tree'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l dir -d 'The golden tree' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand golden; and __fish_seen_subcommand_from bless" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -f -a "create" -d 'Back tables up into a store'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -f -a "list" -d 'List backups: catalog rows, the store, and the catalog\'s own (legacy) backups'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -f -a "describe" -d 'Describe a backup'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -f -a "verify" -d 'Verify backups: manifests, listing and checksums; with --deep every item too'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -f -a "delete" -d 'Delete backups'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -f -a "promote" -d 'Write an in-catalog (legacy) backup out into a store'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and not __fish_seen_subcommand_from create list describe verify delete promote restore" -f -a "restore" -d 'Restore backups into new tables'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l account -d 'Only tables of this account' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l name -d 'Name the backups [default: TABLE-TIME]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l jobs -d 'Use at most that many threads and connections [default: one a core, at least 2]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l rate-limit -d 'Read at most that many bytes of items a second, for example 50MiB/s' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l all -d 'Back up every table'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l table -d 'Only backups of this table' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l account -d 'Only backups of this account' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l status -d 'Show backups in this state too, or all [default: what the API shows]' -r -f -a "available\t''
creating\t''
deleting\t''
deleted\t''
failed\t''
damaged\t''
incomplete\t''
all\t''"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l since -d 'Only backups begun at this time or later: RFC 3339, or an age such as 7d' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l until -d 'Only backups begun before this time: RFC 3339, or an age such as 7d' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l account -d 'Only a backup of this account' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from describe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l account -d 'Only backups of this account' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l jobs -d 'Look at that many data files at once [default: one a core, at least 2]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l all -d 'Verify every backup of the store'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l deep -d 'Parse every item too, and check keys and counts'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l account -d 'Only backups of this account' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l account -d 'Only a backup of this account' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l jobs -d 'Use at most that many threads [default: one a core, at least 2]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from promote" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l as -d 'Name the new table' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l suffix -d 'Append this to the names of the tables' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l map -d 'Restore the newest backup of table OLD as NEW; may be given more than once' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l account -d 'Account of the backups and of the new tables [default: the backup\'s]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l billing-mode -d 'Bill the new tables this way' -r -f -a "provisioned\t'Capacity is provisioned'
pay-per-request\t'On demand'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l read-capacity -d 'Read capacity units of the new tables' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l write-capacity -d 'Write capacity units of the new tables' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l idempotency-key -d 'Make a repeated command return the same job' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l jobs -d 'Use at most that many threads and connections [default: one a core, at least 2]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l all -d 'Restore the newest backup of every table'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l detach -d 'Only record the job; `job run` works on it'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand backup; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -f -a "list" -d 'List jobs, newest first'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -f -a "show" -d 'Show one job'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -f -a "cancel" -d 'Cancel a job: its holder stops and undoes what it did; a dead holder\'s work is undone here'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -f -a "resume" -d 'Go on with a restore whose process died, or begin one that is queued'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and not __fish_seen_subcommand_from list show cancel resume run" -f -a "run" -d 'Work on the job that has been queued longest'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l status -d 'Only jobs in this state; may be given more than once' -r -f -a "queued\t''
running\t''
cancelling\t''
succeeded\t''
failed\t''
cancelled\t''"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l kind -d 'Only jobs of this kind' -r -f -a "backup\t''
restore\t''"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l limit -d 'List at most that many' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l before -d 'List jobs older than this one' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from cancel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l jobs -d 'Use at most that many threads and connections [default: one a core, at least 2]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l jobs -d 'Use at most that many threads and connections [default: one a core, at least 2]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l until-empty -d 'Go on until no job is queued'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand job; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -f -a "list" -d 'List tables'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -f -a "describe" -d 'Describe a table: keys, indexes, capacity, physical identity'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and not __fish_seen_subcommand_from list describe digest" -f -a "digest" -d 'Compute the digest of a table\'s items'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l account -d 'Only tables of this account' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l account -d 'Account of the table, where several have one of that name' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from describe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l account -d 'Account of the table, where several have one of that name' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l jobs -d 'Use at most that many threads and connections [default: one a core, at least 2]' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand table; and __fish_seen_subcommand_from digest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -f -a "list" -d 'List the stores of the configuration'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -f -a "check" -d 'Check that a store can be read and written, and look for what does not belong there'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -f -a "init" -d 'Give an empty store its identity'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and not __fish_seen_subcommand_from list check init adopt" -f -a "adopt" -d 'Give an identity to a store that holds objects and has none'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand store; and __fish_seen_subcommand_from adopt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -f -a "show" -d 'Print what is in force, with passwords hidden'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and not __fish_seen_subcommand_from show check" -f -a "check" -d 'Check files, secrets, bounds and names without connecting anywhere'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l keep -d 'Keep the folder, to look around in it afterwards'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -s o -l output -d 'Print results in this form' -r -f -a "table\t'For people'
json\t'For scripts; errors become one object on standard error'
yaml\t'For scripts and people'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -l progress -d 'Show progress in this form, on standard error' -r -f -a "auto\t'Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON'
bar\t'A bar'
plain\t'A line every 10 s'
json\t'One JSON object a line'
none\t'Nothing'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -l color -d 'Use colors' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Everywhere'
never\t'Nowhere'"
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -l lock-timeout -d 'Wait that long for a lock of the database' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -l url -d 'Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -l data-url -d 'Reach the items at this URL instead of the one that the catalog holds' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -l server-config -d 'Use the deployment of this extenddb.toml' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -l deployment -d 'Use this deployment of the configuration file' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -l config -d 'Read this configuration file' -r -F
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -l store -d 'Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX' -r
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -s v -l verbose -d 'Show what this program does, on standard error; twice for details'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -s q -l quiet -d 'Print neither notes nor progress'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -s y -l yes -d 'Answer every prompt with yes'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -l no-input -d 'Refuse to prompt'
complete -c extenddb-admin -n "__fish_extenddb_admin_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
