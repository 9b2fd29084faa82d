"""Collects with PyGithub, a client nobody here wrote, and prints what it counted as JSON."""

import json
import sys

from github import Github

url, token = sys.argv[1], sys.argv[2]
client = Github(login_or_token=token, base_url=url, per_page=10)
counted = {}
for repo in client.get_user().get_repos():
    counted[str(repo.id)] = {
        "commits": sum(1 for _ in repo.get_commits()),
        "issues": sum(1 for issue in repo.get_issues(state="all") if issue.pull_request is None),
        "pulls": sum(1 for _ in repo.get_pulls(state="all")),
        "additions": repo.get_commits()[0].stats.additions,
    }
print(json.dumps(counted))
