# SPDX-License-Identifier: MIT
# Upper case, in any shell of POSIX with `head -c`.
count=0
echo 'ready 0 2'
while read -r kind size id rest; do
    case $kind in
    message)
        echo "out $size 0 $id"
        head -c "$size" | tr '[:lower:]' '[:upper:]'
        echo 'done 0'
        count=$((count + 1)) ;;
    request)
        echo "reply $size $id"
        head -c "$size" | tr '[:lower:]' '[:upper:]'
        echo 'done 0' ;;
    tick)
        line="messages $count"
        printf 'inspect %d\n%s' ${#line} "$line" ;;
    close)
        line="$count messages"
        printf 'out %d 0 0\n%s' ${#line} "$line" ;;
    esac
done
